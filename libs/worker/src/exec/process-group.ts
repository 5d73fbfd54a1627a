import { sleep } from '@pipeline/runtime';

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
