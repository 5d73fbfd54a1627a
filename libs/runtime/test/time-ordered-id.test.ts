import { afterEach, expect, jest, test } from '@jest/globals';
import { validate, version } from 'uuid';
import { timeOrderedId } from '../src/time-ordered-id.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

test('returns different UUIDs of version 7 when more are made than random bytes are drawn for at a time', () => {
  const ids = Array.from({ length: 1_000 }, timeOrderedId);
  // The last 10 digits are random in each id: equal ones would show bytes that are used twice.
  expect(new Set(ids.map((id) => id.slice(-10))).size).toBe(ids.length);
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
});

test.each([
  ['time stands still', 0],
  ['time passes', 1],
  ['the clock goes back', -1],
])('returns ids in ascending order while %s', (_, step) => {
  const clock = jest.spyOn(Date, 'now');
  const start = Date.now() + 60_000;
  const ids = Array.from({ length: 300 }, (_id, n) => {
    clock.mockReturnValue(start + n * step);
    return timeOrderedId();
  });
  expect(ids.toSorted()).toEqual(ids);
});
