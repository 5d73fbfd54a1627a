import { spawn } from 'node:child_process';
import { sleep, withDeadline } from '@pipeline/runtime';
import { type RunAs, spawnAs } from './user.ts';

export interface ChildOptions {
  command: string;
  cwd: string;
  env: Record<string, string>;
  /** null = user of the runner. */
  user: RunAs | null;
  stdin: string;
  onStdout(chunk: Buffer): void;
  onStderr(chunk: Buffer): void;
  /** Aborts the child and all its children. */
  signal: AbortSignal;
  /** Milliseconds between SIGTERM and SIGKILL. */
  graceMs: number;
}

export interface ChildEnd {
  exitCode: number | null;
  signal: string | null;
}

/** Maximum time to read remaining output after the process group has exited, in milliseconds. */
const OUTPUT_WITHIN_MS = 1_000;

/**
 * Runs a shell command as the leader of a new process group and kills remaining processes of the group on exit.
 * Settles when the command has exited and its output has been read. @throws Error when it cannot be started.
 */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { command, cwd, env, user, signal, graceMs } = options;
  const stdio: ['pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe'];
  const child = spawn(command, { shell: true, cwd, env, detached: true, stdio, ...spawnAs(user) });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const ended = new Promise<ChildEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, endSignal) => resolve({ exitCode, signal: endSignal }));
  });
  child.stdout.on('data', options.onStdout);
  child.stderr.on('data', options.onStderr);
  // Programs need not read their input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.stdin);

  const over = new AbortController();
  const killing = killOnSignal(child.pid, signal, graceMs, over.signal);
  try {
    const end = await ended;
    killGroup(child.pid, 'SIGKILL');
    // A process that left the group may keep the pipes open.
    await withDeadline(closed, OUTPUT_WITHIN_MS, 'reading the output').catch(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    });
    return end;
  } finally {
    over.abort();
    await killing;
  }
}

/**
 * Ends a process group once the signal is aborted: SIGTERM, then SIGKILL after the grace time in milliseconds.
 * Settles when that is done or `over` is aborted.
 */
export async function killOnSignal(
  pid: number | undefined,
  signal: AbortSignal,
  graceMs: number,
  over: AbortSignal,
): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted || over.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over });
    over.addEventListener('abort', () => resolve(), { once: true });
  });
  if (over.aborted) return;
  killGroup(pid, 'SIGTERM');
  if (await sleep(graceMs, over)) killGroup(pid, 'SIGKILL');
}

/** Sends a signal to a process group. Does nothing when it has no process left. */
export function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
