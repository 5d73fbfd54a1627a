import { sleep } from '@pipeline/runtime';

/** Each check of a condition may open a connection; more of them would slow what is measured. */
const EVERY_MS = 250;

interface PollOptions {
  withinMs: number;
  /** Ends the wait early, with its reason as the error. */
  signal?: AbortSignal;
}

/** Waits until a condition holds. @throws Error naming the condition that did not hold in time. */
export async function poll(
  what: string,
  holds: () => Promise<boolean> | boolean,
  { withinMs, signal }: PollOptions,
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    signal?.throwIfAborted();
    if (performance.now() > end) throw new Error(`${what}: not within ${withinMs / 1_000} s`);
    await sleep(EVERY_MS, signal);
  }
}
