import { spawn } from 'node:child_process';
import { sleep, withDeadline } from '@pipeline/runtime';
import { type RunAs, spawnAs } from './user.ts';

export interface ChildOptions {
  command: string;
  cwd: string;
  env: Record<string, string>;
  /** null = the runner's own user. */
  user: RunAs | null;
  stdin: string;
  onStdout(chunk: Buffer): void;
  onStderr(chunk: Buffer): void;
  /** Ends the child and all its children. */
  signal: AbortSignal;
  /** From SIGTERM to SIGKILL. */
  graceMs: number;
}

export interface ChildEnd {
  exitCode: number | null;
  signal: string | null;
}

/** How long output may still come in once nobody is left to write it. */
const OUTPUT_WITHIN_MS = 1_000;

/**
 * Runs a shell command as the leader of a process group of its own, and leaves no process of that group behind.
 * Settles when the command has ended and its output has been read. @throws Error when it cannot be started.
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
  // A program that does not read its task is none the worse for it.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.stdin);

  const over = new AbortController();
  const killing = killOnSignal(child.pid, signal, graceMs, over.signal);
  try {
    const end = await ended;
    killGroup(child.pid, 'SIGKILL');
    // Whoever left the group may hold the pipes for ever.
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

async function killOnSignal(
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

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
