import { deadlineSignal, sleep } from '@pipeline/runtime';

const WITHIN_MS = 15_000;
const EVERY_MS = 50;

/**
 * Waits until a service reports that it is ready: it listens, and its store is reachable.
 * @throws Error with its last answer when that takes too long, or the signal comes.
 */
export async function waitReady(url: string, signal: AbortSignal): Promise<void> {
  const deadline = deadlineSignal(WITHIN_MS, signal);
  let last = 'no answer';
  do {
    try {
      const answer = await fetch(`${url}/ready`, { signal: deadline });
      if (answer.ok) return void (await answer.body?.cancel());
      last = await answer.text();
    } catch (error) {
      last = String(error);
    }
  } while (await sleep(EVERY_MS, deadline));
  signal.throwIfAborted();
  throw new Error(`${url} was not ready after ${WITHIN_MS / 1000} s: ${last}`);
}
