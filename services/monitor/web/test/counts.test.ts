import { expect, test } from '@jest/globals';
import { STATE_NAMES } from '@pipeline/web/states/states.ts';
import { type Counts, openCount } from '../src/pages/overview/counts.ts';

test('issues that are done are not open', () => {
  const counts = Object.fromEntries(STATE_NAMES.map((state) => [state, state === 'done' ? 100 : 1])) as Counts;
  expect(openCount(counts)).toBe(STATE_NAMES.length - 1);
});
