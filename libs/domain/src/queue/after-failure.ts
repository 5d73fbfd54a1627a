import { backoffMs } from '../backoff.ts';
import type { ErrorClass } from '../error-classes.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../windows.ts';

const RETRY_CAP_MS = 10 * MINUTE_MS;

/**
 * The longest wait that a worker may request; a longer one needs repeated requests, so that a mistake does not hold a
 * task for days.
 */
export const MAX_REQUESTED_WAIT_MS = 6 * HOUR_MS;
/** Total time that a task waits for a quota before its issue is blocked and becomes visible. */
export const MAX_QUOTA_WAIT_MS = DAY_MS;
/** Earliest lift of a quota block; each time the task is tried once. */
const MIN_QUOTA_BLOCK_MS = HOUR_MS;

const AUTO_UNBLOCK_MINUTES = [5, 15, 45] as const;

interface Attempts {
  /** The attempt that ended, counted from 0. */
  attempt: number;
  maxAttempts: number;
}

interface FailedAttempt extends Attempts {
  errorClass: ErrorClass;
  /** The wait that the worker requests, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** Time that the task has waited for a quota already, in milliseconds. */
  quotaWaitedMs: number;
  /** The wait for a quota if the worker requests none, in milliseconds. */
  quotaBackoffMs: number;
  /** 0 <= random < 1, for the jitter. */
  random: number;
}

export type AfterFailure =
  | { kind: 'retry'; attempt: number; held: 'quota' | 'backoff'; delayMs: number }
  /** `quotaMs`: the task waited too long for a quota; after this time it is retried once. */
  | { kind: 'give-up'; quotaMs?: number };

/**
 * Decides what follows a failed attempt. A quota uses no attempt; a permanent error uses all of them. A requested wait
 * is granted up to its maximum, else the backoff applies.
 */
export function afterFailure(failed: FailedAttempt): AfterFailure {
  const { errorClass, retryAfterMs, attempt } = failed;
  if (errorClass === 'quota') {
    const wait = quotaWait(failed.quotaWaitedMs, retryAfterMs ?? failed.quotaBackoffMs);
    if ('blockMs' in wait) return { kind: 'give-up', quotaMs: wait.blockMs };
    return { kind: 'retry', attempt, held: 'quota', delayMs: wait.waitMs };
  }
  if (errorClass === 'permanent' || isLastAttempt(failed)) return { kind: 'give-up' };
  const requested = retryAfterMs === undefined ? null : Math.min(retryAfterMs, MAX_REQUESTED_WAIT_MS);
  return {
    kind: 'retry',
    attempt: attempt + 1,
    held: 'backoff',
    delayMs: requested ?? retryDelayMs(attempt, failed.random),
  };
}

/**
 * The attempt that follows one whose worker was lost; null = none is left.
 * @param repeatLast repeats the last attempt instead, for a person's request.
 */
export function attemptAfterLoss(lost: Attempts, repeatLast: boolean): number | null {
  if (!isLastAttempt(lost)) return lost.attempt + 1;
  return repeatLast ? lost.attempt : null;
}

const isLastAttempt = ({ attempt, maxAttempts }: Attempts): boolean => attempt + 1 >= maxAttempts;

/**
 * Delay before the next attempt of a task, in milliseconds: min(30·2^attempt, 600) s ±20 %.
 * @param attempt the attempt that failed, counted from 0.
 * @param random a number from 0 to 1, drawn again for each call.
 */
export const retryDelayMs = (attempt: number, random: number): number => backoffMs(attempt, RETRY_CAP_MS, random);

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

/**
 * Returns how long a transient block lasts before it is lifted automatically, by the number of earlier lifts;
 * milliseconds.
 */
export const autoUnblockDelayMs = (count: number): number =>
  (AUTO_UNBLOCK_MINUTES[Math.max(0, Math.trunc(count))] ?? AUTO_UNBLOCK_MINUTES[2]) * MINUTE_MS;
