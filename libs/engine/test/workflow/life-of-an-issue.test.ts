import { describe, expect, test } from '@jest/globals';
import { findIssue } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { applyHostIssue, type Bench, hostIssue, listsAgreeAfterEach, makeBench, step } from '../harness.ts';

const database = testDatabase();
listsAgreeAfterEach(database);

const issueOf = async ({ tenantId, repo }: Bench, number: number) => {
  const issue = await findIssue(database.db, tenantId, repo.id, number);
  if (!issue) throw new Error(`no issue ${number}`);
  return issue;
};

describe('an issue that meets no obstacle', () => {
  test('the issue is admitted by label, passes every state, is merged by the host and only then done', async () => {
    const bench = await makeBench(database.store);
    await applyHostIssue(bench, hostIssue(1));
    expect((await issueOf(bench, 1)).state).toBe('analyzing');
    const states = [];
    for (let i = 0; i < 5; i += 1) states.push(await step(bench));
    expect(states).toEqual(['planning', 'ready-for-dev', 'in-review', 'merge-pending', 'merge-pending']);
    const issue = await issueOf(bench, 1);
    expect(issue.state).toBe('done');
    expect(issue.labels).toEqual(['svc:done']);
    expect(bench.host.executed.map((entry) => entry.type)).toEqual(
      expect.arrayContaining(['createPR', 'mergePR', 'closeIssue', 'swapLabels', 'updateComment']),
    );
  });

  test('wakes the loops of what waits for it when it is done, not on its way', async () => {
    const bench = await makeBench(database.store, { slug: 'acme/waited-for' });
    bench.bells.length = 0;
    await applyHostIssue(bench, hostIssue(1));
    for (let i = 0; i < 4; i += 1) await step(bench);
    expect(bench.bells).not.toContain('svc_cache');
    await step(bench);
    expect((await issueOf(bench, 1)).state).toBe('done');
    expect(bench.bells).toContain('svc_cache');
  });

  test('does not admit an issue without the label', async () => {
    const bench = await makeBench(database.store, { slug: 'acme/quiet' });
    await applyHostIssue(bench, hostIssue(1, { labels: ['bug'] }));
    expect(await findIssue(database.db, bench.tenantId, bench.repo.id, 1)).toBeUndefined();
  });
});
