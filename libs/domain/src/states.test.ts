import { expect, test } from '@jest/globals';
import { isBlockedState, isState, remembersOrigin, STATES } from './states.ts';

test('only the two blocked states set is_blocked; they and needs-clarification store their origin', () => {
  expect(STATES.filter(isBlockedState)).toEqual(['dependency-blocked', 'failure-blocked']);
  expect(STATES.filter(remembersOrigin)).toEqual(['dependency-blocked', 'failure-blocked', 'needs-clarification']);
});

test('categories of the analytics and inherited names are no states', () => {
  for (const name of ['blocked', 'paused', 'constructor', 'length', '', null, 3]) expect(isState(name)).toBe(false);
});
