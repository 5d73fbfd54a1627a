import { isAbsolute, resolve } from 'node:path';
import {
  type CreateTerminalRequest,
  RequestError,
  type TerminalExitStatus,
  type TerminalOutputResponse,
} from '@agentclientprotocol/sdk/unstable';
import type { RunningProgram } from '@pipeline/worker';
import type { Box } from '../sandbox/sandbox.ts';
import { isInside } from './paths.ts';

const MAX_TERMINALS = 16;
const MAX_KEPT_BYTES = 1024 * 1024;

export interface TerminalsOptions {
  root: string;
  env: Readonly<Record<string, string>>;
  box: Box;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables by which a program loads code that its command line does not name. */
const LOADERS =
  /^(PATH|ENV|BASH_ENV|BASH_FUNC_.*|IFS|GCONV_PATH|LD_.*|DYLD_.*|NODE_OPTIONS|GIT_(CONFIG|SSH|EXEC_PATH).*|PERL5.*|PYTHON(PATH|STARTUP|HOME)|RUBY(OPT|LIB)|JAVA_TOOL_OPTIONS)$/;

/** @throws RequestError for a variable that is malformed or loads code into programs. */
function variablesOf(env: CreateTerminalRequest['env']): Record<string, string> {
  for (const { name, value } of env ?? []) {
    if (!NAME.test(name) || value.includes('\0'))
      throw RequestError.invalidParams({ name }, 'names of variables are letters, digits and _; values hold no NUL');
    if (LOADERS.test(name))
      throw RequestError.invalidParams({ name }, `${name} may not be set for a terminal: set it in the command line`);
  }
  return Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
}

/** The terminal methods of the protocol: commands in the work tree, with the environment of tools and without keys. */
export class Terminals {
  readonly #options: TerminalsOptions;
  readonly #terminals = new Map<string, Terminal>();
  #created = 0;

  constructor(options: TerminalsOptions) {
    this.#options = options;
  }

  /** Starts a command. @returns its id. @throws RequestError for a folder outside the work tree, or too many terminals. */
  create({ command, args, env, cwd, outputByteLimit }: CreateTerminalRequest): string {
    const { root, box } = this.#options;
    const folder = cwd == null ? root : isAbsolute(cwd) ? cwd : resolve(root, cwd);
    if (!isInside(root, folder)) throw RequestError.invalidParams({ cwd }, `${cwd} is outside the work tree`);
    if (this.#terminals.size >= MAX_TERMINALS)
      throw RequestError.invalidParams({}, `at most ${MAX_TERMINALS} terminals may be open: release one`);
    const own = variablesOf(env);
    // Without arguments the command is a line for the shell.
    const line: [string, ...string[]] = args && args.length > 0 ? [command, ...args] : ['/bin/sh', '-c', command];
    const child = box.start({ command: line, env: { ...this.#options.env, ...own }, cwd: folder }, 'ignore');
    this.#created += 1;
    const id = `terminal-${this.#created}`;
    this.#terminals.set(id, new Terminal(child, Math.min(outputByteLimit ?? MAX_KEPT_BYTES, MAX_KEPT_BYTES)));
    return id;
  }

  output(id: string): TerminalOutputResponse {
    return this.#get(id).output;
  }

  wait(id: string): Promise<TerminalExitStatus> {
    return this.#get(id).ended;
  }

  kill(id: string): void {
    this.#get(id).kill();
  }

  release(id: string): void {
    this.#get(id).kill();
    this.#terminals.delete(id);
  }

  #get(id: string): Terminal {
    const found = this.#terminals.get(id);
    if (!found) throw RequestError.resourceNotFound(id);
    return found;
  }
}

/** A running command, with the last part of its output. */
class Terminal {
  readonly ended: Promise<TerminalExitStatus>;
  readonly #child: RunningProgram;
  readonly #limit: number;
  #kept = Buffer.alloc(0);
  #truncated = false;
  #status: TerminalExitStatus | null = null;

  constructor(child: RunningProgram, limit: number) {
    this.#child = child;
    this.#limit = limit;
    child.stdout.on('data', (chunk: Buffer) => this.#add(chunk));
    child.stderr.on('data', (chunk: Buffer) => this.#add(chunk));
    const failed = (error: Error) => {
      this.#add(Buffer.from(`${error.message}\n`));
      return { exitCode: 127, signal: null };
    };
    this.ended = child.ended.catch(failed).then(async (status) => {
      await child.drained();
      this.#status = status;
      return status;
    });
  }

  get output(): TerminalOutputResponse {
    return { output: this.#kept.toString('utf8'), truncated: this.#truncated, exitStatus: this.#status };
  }

  kill(): void {
    this.#child.kill();
  }

  #add(chunk: Buffer): void {
    const all = Buffer.concat([this.#kept, chunk]);
    this.#truncated ||= all.length > this.#limit;
    this.#kept = Buffer.from(all.subarray(Math.max(0, all.length - this.#limit)));
  }
}
