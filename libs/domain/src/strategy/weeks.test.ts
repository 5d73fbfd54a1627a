import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DAY_MS, isoWeek } from '../windows.ts';
import { nextIsoWeekStart, retryProposalAfterMs } from './weeks.ts';

const times = fc.date({ min: new Date('1990-01-01'), max: new Date('2110-01-01'), noInvalidDate: true });

describe('nextIsoWeekStart', () => {
  test.each([
    ['2026-11-21T17:00:00Z', '2026-11-23T00:00:00.000Z'],
    ['2026-11-23T00:00:00Z', '2026-11-30T00:00:00.000Z'],
    ['2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00.000Z'],
    ['2026-12-31T12:00:00Z', '2027-01-04T00:00:00.000Z'],
  ])('the next week after %s is %s', (at, next) => {
    expect(nextIsoWeekStart(new Date(at)).toISOString()).toBe(next);
  });

  test('returns a Monday midnight in UTC within seven days, in the week after, and not a moment later', () => {
    fc.assert(
      fc.property(times, (at) => {
        const next = nextIsoWeekStart(at);
        expect([next.getUTCDay(), next.getTime() % DAY_MS]).toEqual([1, 0]);
        expect(next.getTime() - at.getTime()).toBeGreaterThan(0);
        expect(next.getTime() - at.getTime()).toBeLessThanOrEqual(7 * DAY_MS);
        expect(isoWeek(new Date(next.getTime() - 1))).toBe(isoWeek(at));
        expect(isoWeek(next) > isoWeek(at)).toBe(true);
      }),
    );
  });
});

test('a failed cycle is retried after 15 minutes, then with doubling delays, a day at most', () => {
  expect([1, 2, 3, 8, 400].map((failures) => retryProposalAfterMs(failures) / 60_000)).toEqual([
    15, 30, 60, 1440, 1440,
  ]);
});
