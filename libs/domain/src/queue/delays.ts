import { backoffMs } from '../backoff.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../windows.ts';

const RETRY_CAP_MS = 10 * MINUTE_MS;

/**
 * Delay before the next attempt of a task, in milliseconds: min(30·2^attempt, 600) s ±20 %.
 * @param attempt the attempt that failed, counted from 0.
 * @param random a number from 0 to 1, drawn again for each call.
 */
export const retryDelayMs = (attempt: number, random: number): number => backoffMs(attempt, RETRY_CAP_MS, random);

/**
 * The longest wait that a worker may request; a longer one needs repeated requests, so that a mistake does not hold a
 * task for days.
 */
export const MAX_REQUESTED_WAIT_MS = 6 * HOUR_MS;
/** Total time that a task waits for a quota before its issue is blocked and becomes visible. */
export const MAX_QUOTA_WAIT_MS = DAY_MS;
/** Earliest lift of a quota block; each time the task is tried once. */
const MIN_QUOTA_BLOCK_MS = HOUR_MS;

/**
 * The effect of a quota failure: another wait, or a block when the total wait would be too long. Milliseconds.
 * @param waitedMs how long the task has waited already.
 * @param askedMs the wait requested by the worker, or the setting.
 */
export function quotaWait(waitedMs: number, askedMs: number): { waitMs: number } | { blockMs: number } {
  const waitMs = Math.min(askedMs, MAX_REQUESTED_WAIT_MS);
  if (waitedMs + waitMs <= MAX_QUOTA_WAIT_MS) return { waitMs };
  return { blockMs: Math.max(waitMs, MIN_QUOTA_BLOCK_MS) };
}

const AUTO_UNBLOCK_MINUTES = [5, 15, 45] as const;

/**
 * Returns how long a transient block lasts before it is lifted automatically, by the number of earlier lifts;
 * milliseconds.
 */
export const autoUnblockDelayMs = (count: number): number =>
  (AUTO_UNBLOCK_MINUTES[Math.max(0, Math.trunc(count))] ?? AUTO_UNBLOCK_MINUTES[2]) * MINUTE_MS;
