import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, type Logger } from '@pipeline/runtime';
import { withSecretFiles } from '@pipeline/runtime/secret-files';
import type { Command } from 'commander';
import { createWorkerClient, isUnauthorized } from './client/client.ts';
import { AgentLogs } from './exec/agent-log.ts';
import { childEnv } from './exec/exec.ts';
import { type RunAs, runAs } from './exec/user.ts';
import type { RunnerOptions } from './options.ts';
import { createWorker, type Worker } from './tasks/runner.ts';
import type { TaskHandler } from './tasks/task-run.ts';
import { makeWorkFolder } from './work-folder.ts';

/** Turns off the inspector that any process of the same user can start with SIGUSR1. */
const NO_INSPECTOR = '--disable-sigusr1';

const EXIT_CONFIG = 78;

type ProgramOptions = Pick<
  RunnerOptions,
  'server' | 'tokenEnv' | 'tokenFd' | 'tasks' | 'repos' | 'user' | 'name' | 'concurrency' | 'workDir' | 'logDir'
> &
  Pick<RunnerOptions, 'logLevel' | 'once'>;

/** Context of a worker program after its start-up. */
export interface ProgramContext {
  /** Environment of the process without the worker token and the other secrets. */
  env: Record<string, string>;
  /** Values of the secret variables that are set, by name. */
  secrets: Readonly<Record<string, string>>;
  user: RunAs | null;
  log: Logger;
  logs: AgentLogs;
  /** Ends the program with status 78 and the message. */
  refuse(message: string): never;
}

export interface ProgramWork {
  handler: TaskHandler;
  /** Names of the agents that the handler runs, for repos that compare agents. */
  agents: readonly string[];
}

export interface Program {
  command: Command;
  options: ProgramOptions;
  version: string;
  /** Environment of the process. */
  env: Readonly<Record<string, string | undefined>>;
  /**
   * Names of environment variables that are removed from the environment like the worker token. Each may also be in the file
   * that NAME_FILE names.
   */
  secretEnv?: readonly string[];
  /** Names of variables that programs of tasks may get; removed from the environment of the process as well. */
  keyEnv?: readonly string[];
  /** Creates the handler of the tasks, and names the agents that it runs, if there are any. */
  handler(context: ProgramContext): ProgramWork | Promise<ProgramWork>;
}

/**
 * Runs a worker from a parsed command line until it is stopped: hides its secrets, creates its work directory, handles
 * SIGTERM and SIGINT, and sets the exit status of the process. Restarts the process once, see `restartHidden`.
 */
export async function runProgram(program: Program): Promise<void> {
  const { command, options, version } = program;
  const refuse = (message: string): never => command.error(`error: ${message}`, { exitCode: EXIT_CONFIG });
  const { token, secrets, env } = takeSecrets(program, refuse);
  closeInherited();
  // The default is in a world-writable folder, and the work directory is transferred to that user.
  const isDefaultFolder = command.getOptionValueSource('workDir') === undefined;
  if (options.user !== undefined && isDefaultFolder) refuse('--user requires --work-dir');
  if (!isHidden()) restartHidden({ env, token, secrets });
  const user = attempt(() => (options.user === undefined ? null : runAs(options.user)), refuse);
  attempt(
    () => makeWorkFolder(options.workDir, isDefaultFolder),
    (message) => refuse(`--work-dir ${options.workDir} cannot be used: ${message}`),
  );
  const log = createLogger({ process: command.name(), level: options.logLevel }).child({ worker: options.name });
  const logs = new AgentLogs(options.logDir ?? null);
  if (!isHidden()) log.warn('this platform cannot hide the token: programs of the same user can read it');
  const { handler, agents } = await program.handler({ env, secrets, user, log, logs, refuse });
  const worker = createWorker({
    client: createWorkerClient({ server: options.server, token, log }),
    name: options.name,
    taskTypes: options.tasks,
    repos: options.repos,
    handler,
    agents,
    log,
    concurrency: options.concurrency,
    once: options.once,
    hostname: hostname(),
    version,
  });
  stopOnSignals(worker, log);
  try {
    await worker.run();
  } catch (error) {
    process.exitCode = isUnauthorized(error) ? EXIT_CONFIG : 1;
    const message = isUnauthorized(error)
      ? `the service rejected the token in ${options.tokenEnv}`
      : 'the worker failed';
    log.fatal(message, { error });
  } finally {
    await logs.close();
  }
}

interface Secrets {
  token: string;
  secrets: Record<string, string>;
  /** Environment without them. */
  env: Record<string, string>;
}

/**
 * Reads the secrets from the environment and from files or, after the restart, from the descriptor: the token in the first
 * line, and the others in the second one.
 */
function takeSecrets(
  { options, env: given, secretEnv = [], keyEnv = [] }: Program,
  refuse: (message: string) => never,
): Secrets {
  const { tokenFd, tokenEnv } = options;
  const names = [...secretEnv, ...keyEnv];
  const hidden = [tokenEnv, ...names];
  const parent = withSecretFiles(given, hidden);
  const [token = '', carried = '{}'] = tokenFd === undefined ? [parent[tokenEnv]] : tokenFromFd(tokenFd).split('\n');
  if (token === '')
    refuse(`${tokenEnv} must contain the worker token (wrk_at_…); use --token-env to name another variable`);
  const set = names.map((name) => [name, parent[name] ?? ''] as const).filter(([, value]) => value !== '');
  const secrets: Record<string, string> = { ...Object.fromEntries(set), ...JSON.parse(carried) };
  const values = [token, ...secretEnv.map((name) => secrets[name] ?? '')].filter((value) => value !== '');
  if (process.argv.some((word) => values.some((value) => word.includes(value))))
    refuse('the worker token is on the command line, where every user of this machine can read it');
  const left = Object.fromEntries(Object.entries(given).filter(([name]) => !hidden.includes(name)));
  return { token, secrets, env: values.reduce<Record<string, string>>(childEnv, left as Record<string, string>) };
}

function attempt<T>(call: () => T, refuse: (message: string) => never): T {
  try {
    return call();
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function stopOnSignals(worker: Worker, log: Logger): void {
  let signals = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      signals += 1;
      const next = signals === 1 ? 'finishing what runs; a second signal gives it back' : 'giving back what runs';
      log.info(next, { signal, tasks: worker.busy });
      if (signals === 1) worker.leave();
      else worker.abandon();
    });
}

/** Reads the token from an inherited descriptor and closes it, so that no program inherits it. */
function tokenFromFd(fd: number): string {
  const token = readFileSync(fd, 'utf8').trim();
  closeSync(fd);
  // Closing frees the lowest number; the next opened file must not become standard input.
  if (fd === 0) openSync('/dev/null', 'r');
  return token;
}

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes descriptors that the process inherited beside the standard ones, which its programs would inherit in turn: Node.js
 * marks as its own only those up to the first unused number above 15.
 */
function closeInherited(): void {
  if (process.platform !== 'linux') return;
  for (const fd of readdirSync('/proc/self/fd').map(Number)) if (fd > 2 && isInheritable(fd)) closeSync(fd);
}

/** Returns whether programs that this process starts have the descriptor. */
function isInheritable(fd: number): boolean {
  try {
    const [, flags = ''] = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').split('flags:');
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The listed folder itself is closed.
    return false;
  }
}

/** Returns whether the process was started by `restartHidden`. */
const isHidden = (): boolean => process.execArgv.includes(NO_INSPECTOR);

/**
 * Replaces this process by a new one with the same id whose environment block never contained the secrets, because a deleted
 * variable stays readable in /proc/PID/environ. Passes them over descriptor 0, from an unlinked file. Returns only on
 * platforms where a process cannot be replaced (Windows).
 */
function restartHidden({ env, token, secrets }: Secrets): void {
  if (process.execve === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'pipeline-worker-'));
  try {
    const path = join(folder, 'token');
    writeFileSync(path, `${token}\n${JSON.stringify(secrets)}`, { mode: 0o600 });
    closeSync(0);
    openSync(path, 'r');
  } finally {
    rmSync(folder, { recursive: true });
  }
  const argv = [NO_INSPECTOR, ...process.execArgv, ...process.argv.slice(1), '--token-fd', '0'];
  process.execve(process.execPath, [process.execPath, ...argv], env);
}
