import { backoffMs } from '../backoff.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../windows.ts';

const RETRY_CAP_MS = 10 * MINUTE_MS;

/**
 * How long the next attempt of a task waits, in milliseconds: min(30·2^attempt, 600) s ±20 %.
 * @param attempt the attempt that failed, counted from 0.
 * @param random a number from 0 to 1, drawn anew for each call.
 */
export const retryDelayMs = (attempt: number, random: number): number => backoffMs(attempt, RETRY_CAP_MS, random);

/** The longest wait that a worker may ask for; one that needs more asks again, so that a slip holds nothing for days. */
export const MAX_ASKED_WAIT_MS = 6 * HOUR_MS;
/** How long work on one state waits for a quota, all in all, before its issue is blocked and people see it. */
export const MAX_QUOTA_WAIT_MS = DAY_MS;
/** A block by a quota is lifted that late at the earliest: each time the work is tried once. */
const MIN_QUOTA_BLOCK_MS = HOUR_MS;

/**
 * What a failure by a quota leads to: another wait, or a block when that would be too much in all. Milliseconds.
 * @param waitedMs how long the work has waited already.
 * @param askedMs what the worker asked for, or what the settings say.
 */
export function quotaWait(waitedMs: number, askedMs: number): { waitMs: number } | { blockMs: number } {
  const waitMs = Math.min(askedMs, MAX_ASKED_WAIT_MS);
  if (waitedMs + waitMs <= MAX_QUOTA_WAIT_MS) return { waitMs };
  return { blockMs: Math.max(waitMs, MIN_QUOTA_BLOCK_MS) };
}

const AUTO_UNBLOCK_MINUTES = [5, 15, 45] as const;

/** How long a transient block stands before it is lifted by itself, by how often that was done before; milliseconds. */
export const autoUnblockDelayMs = (count: number): number =>
  (AUTO_UNBLOCK_MINUTES[Math.max(0, Math.trunc(count))] ?? AUTO_UNBLOCK_MINUTES[2]) * MINUTE_MS;
