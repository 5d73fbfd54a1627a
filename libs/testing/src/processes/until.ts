import { sleep } from '@pipeline/runtime';

/** Processes that start on a loaded machine need up to 40 s. */
const WITHIN_MS = 60_000;

/** Polls a condition until it holds. @throws Error naming the condition that did not hold in time, by default 60 s. */
export async function until(
  what: string,
  isTrue: () => Promise<boolean> | boolean,
  withinMs = WITHIN_MS,
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`did not come true: ${what}`);
    await sleep(5);
  }
}
