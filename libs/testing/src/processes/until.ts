import { sleep } from '@pipeline/runtime';

/** Asks again and again until the answer is yes. @throws Error naming what did not come true within 20 s. */
export async function until(what: string, isTrue: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`did not come true: ${what}`);
    await sleep(5);
  }
}
