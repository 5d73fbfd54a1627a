import { expect, test } from '@jest/globals';
import { humanAssignee } from './assignees.ts';

test.each([
  [[], null],
  [['anna', 'ben'], 'anna'],
  [['Pipeline-Bot', 'ben'], 'ben'],
  [['pipeline-bot', 'shop-worker'], null],
])('returns the first person of %j', (assignees, expected) => {
  expect(humanAssignee(assignees, ['pipeline-bot', 'Shop-Worker'])).toBe(expected);
});
