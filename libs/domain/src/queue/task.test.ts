import { expect, test } from '@jest/globals';
import { SIDE_TASK_TYPES, TASK_TYPES, WORK_TASK_TYPES } from '../task-types.ts';
import { priorityOf } from './task.ts';

test('nearly finished issues come before new ones, and side tasks come last', () => {
  const byPriority = [...TASK_TYPES].sort((a, b) => priorityOf(a) - priorityOf(b));
  expect(byPriority).toEqual(['merge', 'review', 'develop', 'plan', 'analyze', 'retrospect', 'code-map-scan']);
  const lastWork = Math.max(...WORK_TASK_TYPES.map((taskType) => priorityOf(taskType)));
  for (const taskType of SIDE_TASK_TYPES) expect(priorityOf(taskType, true)).toBeGreaterThan(lastWork);
});

test('urgency orders tasks of one kind and never precedes a later step', () => {
  const urgentDevelop = priorityOf('develop', true);
  expect(urgentDevelop).toBeLessThan(priorityOf('develop'));
  expect(urgentDevelop).toBeGreaterThan(priorityOf('review'));
});
