import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { untilPoll } from '../src/api/query.ts';

const ages = fc.double({ min: 0, max: 1e8, noNaN: true });

describe('polls of a page', () => {
  test('fall on the same moments, whenever their last response came', () => {
    fc.assert(
      fc.property(fc.constantFrom(3_000, 10_000, 60_000), ages, (pollMs, age) => {
        const into = (age + untilPoll(pollMs, age)) % pollMs;
        expect(Math.min(into, pollMs - into)).toBeCloseTo(0, 4);
      }),
    );
  });

  test('wait for the next of these moments, and are not repeated by a timer that ends early', () => {
    expect(untilPoll(10_000, 20_000)).toBe(10_000);
    expect(untilPoll(10_000, 29_999.9)).toBeCloseTo(10_000.1, 4);
    expect(untilPoll(10_000, 25_000)).toBe(5_000);
  });
});
