import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BUDGET_PERCENTS, isUsedUp, reachedPercent, thresholdChanges } from './budgets.ts';

test.each([
  [0, 10, null],
  [7.999999, 10, null],
  [8, 10, 80],
  [8.999999, 10, 80],
  [9, 10, 90],
  [9.999999, 10, 90],
  [10, 10, 100],
  [250, 10, 100],
  [0.1 + 0.2, 0.3, 100],
  [1_000_000, null, null],
] as const)('%d of %p dollars reaches %p', (spent, limit, reached) => {
  expect(reachedPercent(spent, limit)).toBe(reached);
  expect(isUsedUp(spent, limit)).toBe(reached === 100);
});

const usd = fc.integer({ min: 1, max: 1_000_000_000 }).map((micro) => micro / 1_000_000);
const percent = fc.constantFrom(null, ...BUDGET_PERCENTS);

test('passes each threshold once and in order for any sequence of costs', () => {
  fc.assert(
    fc.property(fc.array(usd, { maxLength: 30 }), usd, (bookings, limit) => {
      let spent = 0;
      let announced: ReturnType<typeof reachedPercent> = null;
      const passed: number[] = [];
      for (const booking of bookings) {
        spent += booking;
        const reached = reachedPercent(spent, limit);
        const news = thresholdChanges(announced, reached);
        expect(news.left).toEqual([]);
        passed.push(...news.passed);
        announced = reached;
      }
      expect(passed).toEqual(BUDGET_PERCENTS.filter((step) => step <= (announced ?? 0)));
    }),
  );
});

test('reports passed or left thresholds, never both, when a limit changes', () => {
  fc.assert(
    fc.property(percent, percent, (announced, reached) => {
      const { passed, left } = thresholdChanges(announced, reached);
      expect(Math.min(passed.length, left.length)).toBe(0);
      expect(passed.length + left.length).toBe(
        Math.abs(BUDGET_PERCENTS.indexOf(announced as 80) - BUDGET_PERCENTS.indexOf(reached as 80)),
      );
    }),
  );
});
