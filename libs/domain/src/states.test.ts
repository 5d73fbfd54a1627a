import { expect, test } from '@jest/globals';
import { isBlockedState, isState, remembersOrigin, STATES } from './states.ts';

test('only the two blocked states set is_blocked, and with the question they are all that remember their origin', () => {
  expect(STATES.filter(isBlockedState)).toEqual(['dependency-blocked', 'failure-blocked']);
  expect(STATES.filter(remembersOrigin)).toEqual(['dependency-blocked', 'failure-blocked', 'needs-clarification']);
});

test('the categories of the analytics and inherited names are no states', () => {
  for (const name of ['blocked', 'paused', 'constructor', 'length', '', null, 3]) expect(isState(name)).toBe(false);
});
