import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { type Duplex, PassThrough, type Readable, type Writable } from 'node:stream';
import { sleep, withDeadline } from '@pipeline/runtime';

/** A program of a task with its whole environment. */
export interface TaskProgram {
  command: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  /** Folder that it starts in. */
  cwd: string;
}

/** Start of a program. No variable of the program is one of the started process, which may have more rights. */
export interface Launch {
  command: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  /** Contents of the descriptors 3, 4, …: the command line is public. */
  inputs: readonly (string | Buffer)[];
  uid?: number;
  gid?: number;
  /** True = the child of the started process is the first process of a namespace: everything in it ends with it. */
  isNamespace: boolean;
  /** True = SIGTERM to the process group reaches the program; otherwise it can only be killed. */
  takesSigterm: boolean;
}

export interface ChildEnd {
  exitCode: number | null;
  signal: string | null;
}

/**
 * First process of a task: reads the environment from descriptor 3 and starts the program. It does not end before the
 * program, ignores signals that are meant for the program, and collects processes that lost their parent.
 */
const INIT = [
  'eval "$(cat <&3)"; cd "$1" || exit 126; shift',
  'trap "" TERM INT HUP; exec 9<&0',
  '(trap - TERM INT HUP; exec "$@") <&9 3<&- 9<&- &',
  'exec </dev/null 3<&- 9<&-; wait $!',
].join('\n');

/** Environment of a confiner. */
export const CONFINER_ENV = { PATH: '/usr/bin:/bin' };

/** Returns the command of the first process of a program; `envText` is the text for its descriptor 3. */
export const initCommand = ({ command, cwd }: TaskProgram): [string, ...string[]] => [
  '/bin/sh',
  '-c',
  INIT,
  'init',
  cwd,
  ...command,
];

/** Returns a word as a shell reads it unchanged. */
export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Returns the environment of a program as commands of a shell, without names that are no identifiers. */
export const envText = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('');

const DRAINED_WITHIN_MS = 1_000;
const EVERY_MS = 2;
/** Attempts to find the first process of a namespace before its confiner is killed instead. */
const MAX_ATTEMPTS = 2_500;

/** A started program, with everything that it starts. */
export class ContainedProcess {
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles at the end of the program; in a namespace at the end of all its processes. Rejects if it was not started. */
  readonly ended: Promise<ChildEnd>;
  readonly #child: ChildProcess;
  readonly #launch: Launch;
  #isOver = false;

  constructor(launch: Launch, stdin: 'pipe' | 'ignore') {
    const { command, env, inputs, uid, gid } = launch;
    const [program, ...args] = command;
    const stdio: StdioOptions = [stdin, 'pipe', 'pipe', ...inputs.map(() => 'pipe' as const)];
    const as = { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) };
    const child = spawn(program, args, { cwd: '/', env: { ...env }, detached: true, stdio, ...as });
    this.#child = child;
    this.#launch = launch;
    this.ended = new Promise((resolve, reject) => {
      child.once('error', (error) => {
        this.#isOver = true;
        reject(error);
      });
      child.once('exit', (exitCode, signal) => {
        this.#isOver = true;
        killGroup(child.pid, 'SIGKILL');
        resolve(endOf(exitCode, signal));
      });
    });
    this.ended.catch(() => undefined);
    // Without free descriptors the child has no streams.
    const streams = (child.stdio ?? []) as readonly unknown[];
    this.stdin = stdin === 'ignore' ? null : ((child.stdin ?? closed()) as Writable);
    this.stdout = child.stdout ?? closed();
    this.stderr = child.stderr ?? closed();
    // Programs need not read their input, and one that could not be started reads nothing.
    this.stdin?.on('error', () => undefined);
    for (const [index, input] of inputs.entries())
      (streams[index + 3] as Writable | undefined)?.on('error', () => undefined).end(input);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Kills all its processes; without a namespace those of its process group. */
  kill(): void {
    if (this.#launch.isNamespace) void this.#killNamespace();
    else killGroup(this.#child.pid, 'SIGKILL');
  }

  /** Ends it: SIGTERM where the program can receive it, and SIGKILL after the grace time in milliseconds. */
  async stop(graceMs: number): Promise<void> {
    const over = new AbortController();
    const settled = this.ended.then(
      () => over.abort(),
      () => over.abort(),
    );
    if (this.#launch.takesSigterm) {
      killGroup(this.#child.pid, 'SIGTERM');
      if (await sleep(graceMs, over.signal)) this.kill();
    } else this.kill();
    await settled;
  }

  /** Waits until its output has been read. A process that left the group may keep the pipes open, but not for long. */
  async drained(): Promise<void> {
    const closed = [this.stdout, this.stderr].map(async (stream) => {
      if (!stream.closed) await once(stream, 'close');
    });
    await withDeadline(Promise.all(closed), DRAINED_WITHIN_MS, 'reading the output').catch(() => {
      this.stdout.destroy();
      this.stderr.destroy();
    });
  }

  /** The confiner collects its child, so it ends after the namespace; killed itself, it would end before. */
  async #killNamespace(): Promise<void> {
    const { pid } = this.#child;
    for (let attempt = 0; pid !== undefined && !this.#isOver; attempt += 1) {
      for (const child of childrenOf(pid)) send(child, 'SIGKILL');
      if (attempt === MAX_ATTEMPTS) killGroup(pid, 'SIGKILL');
      await sleep(EVERY_MS);
    }
  }
}

const closed = (): Duplex => new PassThrough().destroy();

/** A shell reports the signal that ended a program in its exit code. */
function endOf(exitCode: number | null, signal: string | null): ChildEnd {
  const [name] = Object.entries(constants.signals).find(([, number]) => number + 128 === exitCode) ?? [];
  return name === undefined ? { exitCode, signal } : { exitCode: null, signal: name };
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number).filter(Boolean);
  } catch {
    return [];
  }
}

/** Sends a signal to a process group. Does nothing when it has no process left. */
export const killGroup = (pid: number | undefined, signal: NodeJS.Signals): void => {
  if (pid !== undefined) send(-pid, signal);
};

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
