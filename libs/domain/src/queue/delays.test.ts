import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { projectionDelayMs } from '../outbox/projections.ts';
import { DAY_MS, HOUR_MS } from '../windows.ts';
import {
  autoUnblockDelayMs,
  MAX_QUOTA_WAIT_MS,
  MAX_REQUESTED_WAIT_MS,
  quotaWait,
  retryDelayMs,
} from './after-failure.ts';

describe.each([
  ['a retry', retryDelayMs, 600],
  ['a projection', projectionDelayMs, 3_600],
] as const)('the delay of %s', (_name, delayMs, capSec) => {
  test('the delay is min(30·2^attempt, cap) s, ±20 %', () => {
    const chance = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5_000 }), chance, (attempt, drawn) => {
        const middle = Math.min(30 * 2 ** attempt, capSec) * 1_000;
        const delay = delayMs(attempt, drawn);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeCloseTo(middle * (0.8 + 0.4 * drawn), -1);
      }),
    );
  });

  test('uses the full range of the jitter', () => {
    expect([delayMs(0, 0), delayMs(0, 0.5), delayMs(0, 1)]).toEqual([24_000, 30_000, 36_000]);
  });
});

test('automatic unblocking waits 5, 15 and 45 minutes, and not less afterwards', () => {
  expect([0, 1, 2, 3, 99].map((count) => autoUnblockDelayMs(count) / 60_000)).toEqual([5, 15, 45, 45, 45]);
});

test('waits for a quota are bounded individually and in total', () => {
  const ms = fc.integer({ min: 0, max: 10 * DAY_MS });
  fc.assert(
    fc.property(fc.array(ms, { minLength: 1, maxLength: 50 }), (asked) => {
      let waited = 0;
      for (const each of asked) {
        const wait = quotaWait(waited, each);
        if ('blockMs' in wait) {
          expect(wait.blockMs).toBeGreaterThanOrEqual(HOUR_MS);
          expect(wait.blockMs).toBeLessThanOrEqual(MAX_REQUESTED_WAIT_MS);
          expect(waited + Math.min(each, MAX_REQUESTED_WAIT_MS)).toBeGreaterThan(MAX_QUOTA_WAIT_MS);
        } else waited += wait.waitMs;
        expect(waited).toBeLessThanOrEqual(MAX_QUOTA_WAIT_MS);
      }
    }),
  );
});
