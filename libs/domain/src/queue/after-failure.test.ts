import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HOUR_MS } from '../windows.ts';
import {
  afterFailure,
  attemptAfterLoss,
  MAX_QUOTA_WAIT_MS,
  MAX_REQUESTED_WAIT_MS,
  retryDelayMs,
} from './after-failure.ts';

const FAILED = {
  attempt: 0,
  maxAttempts: 3,
  errorClass: 'transient' as const,
  quotaWaitedMs: 0,
  quotaBackoffMs: HOUR_MS,
  random: 0.5,
};

describe('after a failed attempt', () => {
  test('retries with the next attempt after the backoff while attempts are left', () => {
    expect(afterFailure(FAILED)).toEqual({
      kind: 'retry',
      attempt: 1,
      held: 'backoff',
      delayMs: retryDelayMs(0, 0.5),
    });
    expect(afterFailure({ ...FAILED, attempt: 1 })).toMatchObject({ kind: 'retry', attempt: 2 });
    expect(afterFailure({ ...FAILED, attempt: 2 })).toEqual({ kind: 'give-up' });
  });

  test('gives up when the error is permanent', () => {
    expect(afterFailure({ ...FAILED, errorClass: 'permanent' })).toEqual({ kind: 'give-up' });
  });

  test('grants the requested wait up to its maximum', () => {
    const ms = fc.integer({ min: 0, max: 10 * MAX_REQUESTED_WAIT_MS });
    fc.assert(
      fc.property(ms, (retryAfterMs) => {
        const delayMs = Math.min(retryAfterMs, MAX_REQUESTED_WAIT_MS);
        expect(afterFailure({ ...FAILED, retryAfterMs })).toMatchObject({ held: 'backoff', delayMs });
      }),
    );
  });

  test('uses no attempt when a quota is used up, whichever attempt it is', () => {
    const quota = { ...FAILED, attempt: 2, errorClass: 'quota' as const };
    const wait = { kind: 'retry', attempt: 2, held: 'quota' };
    expect(afterFailure(quota)).toEqual({ ...wait, delayMs: HOUR_MS });
    expect(afterFailure({ ...quota, retryAfterMs: 5_000 })).toEqual({ ...wait, delayMs: 5_000 });
  });

  test('gives up with a later try when the waits for a quota are too long in total', () => {
    const quota = { ...FAILED, errorClass: 'quota' as const, quotaWaitedMs: MAX_QUOTA_WAIT_MS };
    expect(afterFailure(quota)).toEqual({ kind: 'give-up', quotaMs: HOUR_MS });
  });
});

describe('after the loss of a worker', () => {
  test('continues with the next attempt while attempts are left', () => {
    expect([0, 1, 2, 3].map((attempt) => attemptAfterLoss({ attempt, maxAttempts: 3 }, false))).toEqual([
      1,
      2,
      null,
      null,
    ]);
  });

  test('repeats only the last attempt when a person requests it', () => {
    expect([0, 1, 2, 3].map((attempt) => attemptAfterLoss({ attempt, maxAttempts: 3 }, true))).toEqual([1, 2, 2, 3]);
  });
});
