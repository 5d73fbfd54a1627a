import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { floorsOf, growingBacklogs, growingMemory, growthOf, oldEntries, theilSenSlope } from '../e2e/soak/verdict.ts';

const minutes = (count: number, at: (minute: number) => number) =>
  Array.from({ length: count }, (_, minute) => at(minute));

describe('theilSenSlope', () => {
  test('returns the slope when a third of the values of a line are outliers', () => {
    const values = minutes(31, (minute) => (minute % 3 === 1 ? 1_000 : 5 + 2 * minute));
    expect(theilSenSlope(values)).toBeCloseTo(2);
  });

  test('returns the slope of any line', () => {
    fc.assert(
      fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 2, max: 40 }), (slope, count) => {
        expect(theilSenSlope(minutes(count, (minute) => 7 + slope * minute))).toBeCloseTo(slope);
      }),
    );
  });

  test('returns 0 when there are fewer than two values', () => {
    expect([theilSenSlope([]), theilSenSlope([4])]).toEqual([0, 0]);
    expect(growthOf({ name: 'a', values: [] })).toBe(0);
  });
});

test('returns the smallest value of each window when single values are higher', () => {
  expect(floorsOf([5, 9, 7, 4, 8])).toEqual([5, 4]);
  expect(floorsOf(minutes(30, (minute) => (minute % 3 === 0 ? 50 : 90)))).toEqual(Array(10).fill(50));
  expect(floorsOf([])).toEqual([]);
});

describe('growingMemory', () => {
  test('returns nothing when memory rises and falls around a constant', () => {
    const values = minutes(45, (minute) => 200 + 25 * Math.sin(minute));
    expect(growingMemory([{ name: 'heap', values }])).toEqual([]);
  });

  test('returns a line when a leak of 1 MiB a minute is hidden by larger swings', () => {
    const values = minutes(45, (minute) => 200 + minute + 15 * Math.sin(minute * 2));
    expect(growingMemory([{ name: 'heap', values }])).toEqual([
      expect.stringMatching(/^heap grew by [34]\d\.\d MiB in 45/),
    ]);
  });

  test('allows 10 MiB when a tenth of the median is less', () => {
    const line = (growth: number) => [{ name: 'heap', values: minutes(11, (minute) => 50 + (growth * minute) / 10) }];
    expect(growingMemory(line(9.9))).toEqual([]);
    expect(growingMemory(line(10.1))).toHaveLength(1);
  });
});

test('returns a line for a backlog when it grows by more than ten entries', () => {
  const tasks = (perMinute: number) => [{ name: 'tasks', values: minutes(11, (minute) => 3 + perMinute * minute) }];
  expect(growingBacklogs(tasks(1))).toEqual([]);
  expect(growingBacklogs(tasks(1.2))).toEqual(['tasks grew by 12.0 entries, 10 are allowed']);
});

test('returns a line for an age when one value is above two minutes', () => {
  expect(oldEntries([{ name: 'outbox', values: [0, 120, 4] }])).toEqual([]);
  expect(oldEntries([{ name: 'outbox', values: [0, 121, 4] }])).toEqual(['outbox reached 121 s, 120 s are allowed']);
});
