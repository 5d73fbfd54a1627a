import type { ErrorClass } from '../error-classes.ts';
import { MAX_REQUESTED_WAIT_MS, quotaWait, retryDelayMs } from './delays.ts';

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
