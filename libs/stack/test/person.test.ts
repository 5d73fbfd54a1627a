import { expect, test } from '@jest/globals';
import type { HostIssue, ProjectionAction, VcsHost } from '@pipeline/domain';
import { silentLogger } from '@pipeline/runtime';
import { Person } from '../src/simulation/person.ts';

const repo = { owner: 'demo', name: 'shop' };

/** A host on which one issue waits, with what was written to it. */
function waiting(label: string, said: string[] = []) {
  const issues = [{ number: 7, labels: [label] } as HostIssue];
  const done: ProjectionAction[] = [];
  const host: Partial<VcsHost> = {
    listIssues: async (_repo, { labels = [] }) => ({
      issues: issues.filter((issue) => labels.every((each) => issue.labels.includes(each))),
      changedPullRequests: [],
      etag: null,
    }),
    listComments: async () => said.map((body, id) => ({ id, body, author: 'bot', createdAt: '', updatedAt: '' })),
    findPullRequests: async () => [{ number: 8, state: 'open' }] as Awaited<ReturnType<VcsHost['findPullRequests']>>,
    execute: async (_repo, _number, action) => {
      done.push(action);
      return { status: 'ok', repeated: false, created: null };
    },
  };
  const clock = { ms: 1_000_000 };
  const person = new Person({ host: host as VcsHost, repo, log: silentLogger, now: () => new Date(clock.ms) });
  return { person, done, clock, issues };
}

test('a question gets an answer, once', async () => {
  const { person, done } = waiting('svc:needs-clarification');
  await person.look();
  await person.look();
  expect(done).toEqual([expect.objectContaining({ type: 'postComment' })]);
});

test('an issue whose work is there already is closed', async () => {
  const { person, done } = waiting('svc:needs-clarification', ['> toc: the default branch has it already. Close …']);
  await person.look();
  expect(done).toEqual([expect.objectContaining({ type: 'closeIssue', reason: 'not_planned' })]);
});

test('a pull request that waits for a person is approved', async () => {
  const { person, done } = waiting('svc:human-review-ready');
  await person.look();
  expect(done).toEqual([expect.objectContaining({ type: 'submitReview', prNumber: 8, event: 'approve' })]);
});

test('a block is lifted again and again, but ever more slowly', async () => {
  const { person, done, clock, issues } = waiting('svc:failure-blocked');
  const [issue] = issues;
  for (let second = 0; second < 300; second += 1) {
    // It fails at once each time: out of the state for one look, and back.
    if (issue) issue.labels = second % 2 === 0 ? ['svc:failure-blocked'] : ['svc:ready-for-dev'];
    await person.look();
    clock.ms += 1_000;
  }
  expect(done[0]).toMatchObject({ body: expect.stringMatching(/^\/svc:unblock /) });
  expect(done.length).toBeGreaterThan(3);
  expect(done.length).toBeLessThan(9);
});
