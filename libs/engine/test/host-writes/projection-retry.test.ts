import { describe, expect, test } from '@jest/globals';
import type { ProjectionAction } from '@pipeline/domain';
import { actOnIssue, beginSending, settle, steerProjection, transitionIssue } from '@pipeline/engine';
import { insertProjections, inTransaction } from '@pipeline/store';
import { drain, workUntil } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();
const OK = {
  status: 'ok' as const,
  repeated: false,
  created: { number: 3, url: 'http://host/3', sha: 'b'.repeat(40) },
};

/** Adds an entry for the issue, sends it once and retries it. @returns its id. */
async function completeAndRetry(action: ProjectionAction): Promise<number> {
  const { id, repo_id } = await bench.issue();
  const place = { repoId: repo_id, issueId: id, issueNumber: 1, clientType: 'sandbox' };
  const item = { ...place, action, idempotencyKey: action.type };
  await inTransaction(bench.database.store.db, (tx) => insertProjections(tx, bench.tenantId, [item]));
  const entry = await bench.entry(action.type);
  const sending = await beginSending(bench.engine, bench.tenantId, entry.id);
  if (!sending) throw new Error('not pending');
  await settle(bench.engine, sending, OK);
  await steerProjection(bench.engine, entry.id, 'retry', OLGA);
  return entry.id;
}
const sendAgain = async (id: number) =>
  (await beginSending(bench.engine, bench.tenantId, id))?.projection.action ?? null;
const statusOf = async (id: number) => (await bench.entries()).find((entry) => entry.id === id)?.status;

describe('labels', () => {
  test('an entry that is sent late writes the labels of the current state', async () => {
    const { id } = await bench.entry('swapLabels');
    expect((await bench.entry('swapLabels')).action).toMatchObject({ add: ['svc:analyzing'] });
    await bench.work();
    expect(await bench.issue()).toMatchObject({ state: 'planning' });
    expect(await sendAgain(id)).toEqual({
      type: 'swapLabels',
      remove: ['svc:enqueue', 'svc:analyzing'],
      add: ['svc:planning'],
    });
  });

  test('a completed entry that is retried does not write the labels of an earlier state', async () => {
    await drain(bench);
    const first = (await bench.entries()).find(({ action }) => action.type === 'swapLabels');
    await bench.work();
    await drain(bench);
    await actOnIssue(bench.engine, await bench.key(), 'pause', OLGA);
    await steerProjection(bench.engine, first?.id ?? 0, 'retry', OLGA);
    expect(await sendAgain(first?.id ?? 0)).toEqual({
      type: 'swapLabels',
      remove: ['svc:analyzing'],
      add: ['svc:planning'],
    });
  });
});

describe('a completed entry that is retried', () => {
  const comment = { title: 'T', body: 'B', labels: [], marker: 'm' };
  test.each<ProjectionAction>([
    { type: 'addLabels', labels: ['svc:enqueue'] },
    { type: 'addLabels', labels: ['svc:in-review'] },
    { type: 'removeLabels', labels: ['svc:enqueue'] },
    { type: 'removeLabels', labels: ['svc:analyzing'] },
    { type: 'createIssue', ...comment },
    { type: 'createPR', head: 'h', base: 'main', title: 'T', body: 'B', draft: false, marker: 'm' },
    { type: 'mergePR', prNumber: 3, method: 'squash', expectedHeadSha: 'a'.repeat(40) },
    { type: 'closePR', prNumber: 3, comment: null },
    { type: 'deleteBranch', branch: 'svc/issue-1' },
  ])('completes without a write when the store no longer wants $type', async (action) => {
    const id = await completeAndRetry(action);
    expect(await sendAgain(id)).toBeNull();
    expect(await statusOf(id)).toBe('complete');
  });

  test.each<ProjectionAction>([
    { type: 'addLabels', labels: ['svc:analyzing'] },
    { type: 'removeLabels', labels: ['svc:in-review'] },
    { type: 'reopenIssue' },
    { type: 'postComment', body: 'B', marker: 'm' },
    { type: 'assignIssue', assignees: ['olga'] },
    { type: 'setCommitStatus', sha: 'a', context: 'c', state: 'success', description: '', targetUrl: null },
  ])('writes a retried entry again when the store still wants $type', async (action) => {
    expect(await sendAgain(await completeAndRetry(action))).toEqual(action);
  });

  test('reopens the issue only while it is not done, and closes it only while it is', async () => {
    const reopening = await completeAndRetry({ type: 'reopenIssue' });
    await actOnIssue(bench.engine, await bench.key(), 'cancel', OLGA);
    expect(await sendAgain(reopening)).toBeNull();
    expect(await statusOf(reopening)).toBe('complete');
    const close = { type: 'closeIssue', reason: 'completed', comment: null } as const;
    const closing = await completeAndRetry(close);
    expect(await sendAgain(closing)).toEqual(close);
    await transitionIssue(bench.engine, await bench.key(), 'new', OLGA);
    expect(await sendAgain(closing)).toBeNull();
    expect(await statusOf(closing)).toBe('complete');
  });

  test('writes the current status comment', async () => {
    await drain(bench);
    const { id } = await bench.entry('updateComment');
    await workUntil(bench, 'ready-for-dev');
    await steerProjection(bench.engine, id, 'retry', OLGA);
    expect(await sendAgain(id)).toMatchObject({
      type: 'updateComment',
      body: (await bench.issue()).status_comment_body,
    });
  });

  test('sends no commit status or review that a later entry replaced', async () => {
    const status = { type: 'setCommitStatus', sha: 'a', context: 'c', description: '', targetUrl: null } as const;
    const id = await completeAndRetry({ ...status, state: 'pending' });
    const { id: issueId, repo_id } = await bench.issue();
    const later = {
      repoId: repo_id,
      issueId,
      issueNumber: 1,
      clientType: 'sandbox',
      idempotencyKey: 'later',
      action: { ...status, state: 'success' as const },
    };
    await inTransaction(bench.database.store.db, (tx) => insertProjections(tx, bench.tenantId, [later]));
    expect(await sendAgain(id)).toBeNull();
  });
});
