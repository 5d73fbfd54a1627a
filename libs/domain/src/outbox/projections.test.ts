import { expect, test } from '@jest/globals';
import { LANES, laneOf, ProjectionAction } from './projections.ts';

test('a failed comment or label delays neither the merge nor the close of its issue', () => {
  const merge = laneOf({ type: 'mergePR', prNumber: 1, method: 'squash', expectedHeadSha: 'abcdef1' });
  const close = laneOf({ type: 'closeIssue', reason: 'completed', comment: null });
  const talk = laneOf({ type: 'updateComment', marker: 'status', body: 'x' });
  const label = laneOf({ type: 'addLabels', labels: ['x'] });
  expect(new Set([merge, close, talk, label]).size).toBe(LANES.length);
});

test('a pull request is opened before it is merged, and an issue created before it is linked', () => {
  const open = { type: 'createPR', head: 'a', base: 'b', title: 't', body: '', draft: false, marker: 'm' } as const;
  expect(laneOf(open)).toBe(laneOf({ type: 'mergePR', prNumber: 1, method: 'squash', expectedHeadSha: 'abcdef1' }));
  const create: ProjectionAction = { type: 'createIssue', title: 't', body: '', labels: [], marker: 'm' };
  expect(laneOf(create)).toBe(laneOf({ type: 'linkSubIssue', parentIssueNumber: 1, childIssueNumber: 2 }));
});

test('an action read back from the store is the action that was written', () => {
  const action = { type: 'swapLabels', remove: ['svc:planning'], add: ['svc:in-review'] } as const;
  expect(ProjectionAction.parse(JSON.parse(JSON.stringify(action)))).toEqual(action);
  expect(ProjectionAction.safeParse({ type: 'formatDisk' }).success).toBe(false);
});
