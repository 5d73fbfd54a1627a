import { describe, expect, test } from '@jest/globals';
import type { IssueAction } from '@pipeline/domain';
import { actOnIssue, LabelReconciler } from '@pipeline/engine';
import { applyHostIssue, drain, hostIssue } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage({ at: null, issues: 0 });
const { database } = bench;

/** A person changes one label on the host. */
const relabel = (action: Extract<IssueAction, 'labeled' | 'unlabeled'>, label: string) =>
  applyHostIssue(bench, hostIssue(1, { labels: [] }), { action, label });
const swaps = async () =>
  (
    await database.db
      .selectFrom('projections')
      .select('action')
      .where('repo_id', '=', bench.repo.id)
      .where('status', '=', 'pending')
      .orderBy('id')
      .execute()
  ).map((row) => row.action);

/** An issue in analyzing whose labels the host shows. */
async function settled(): Promise<void> {
  await applyHostIssue(bench, hostIssue(1));
  await drain(bench);
  expect((await bench.issue()).labels).toEqual(['svc:analyzing']);
}

describe('labels that a person changed on the host', () => {
  test('restores labels: adds missing ones, removes wrong ones, keeps people’s labels', async () => {
    await settled();
    await relabel('unlabeled', 'svc:analyzing');
    await relabel('labeled', 'svc:done');
    await relabel('labeled', 'bug');
    expect(await new LabelReconciler(bench.engine, () => new Date()).step()).toEqual({ repaired: 1, more: false });
    expect(await swaps()).toEqual([{ type: 'swapLabels', remove: ['svc:done'], add: ['svc:analyzing'] }]);
    expect((await bench.issue()).labels).toEqual(['bug', 'svc:analyzing']);
  });

  test('restores labels once an hour at most', async () => {
    let now = new Date();
    const reconciler = new LabelReconciler(bench.engine, () => now);
    await settled();
    for (const [minutes, repaired] of [
      [0, 1],
      [1, 0],
      [59, 0],
      [60, 1],
    ] as const) {
      await relabel('labeled', 'svc:planning');
      const start = now;
      now = new Date(start.getTime() + minutes * 60_000);
      expect((await reconciler.step()).repaired).toBe(repaired);
      if (minutes < 60) now = start;
      await drain(bench);
    }
  });

  test('does not change labels while the outbox has pending or failed entries of the issue', async () => {
    await settled();
    await relabel('labeled', 'svc:planning');
    await actOnIssue(bench.engine, await bench.key(), 'pause', OLGA);
    await database.db
      .updateTable('issues')
      .set({ labels: ['svc:planning'] })
      .where('id', '=', (await bench.issue()).id)
      .execute();
    const before = await swaps();
    expect((await new LabelReconciler(bench.engine, () => new Date()).step()).repaired).toBe(0);
    await database.db
      .updateTable('projections')
      .set({ status: 'failed' })
      .where('repo_id', '=', bench.repo.id)
      .execute();
    expect((await new LabelReconciler(bench.engine, () => new Date()).step()).repaired).toBe(0);
    expect(before.length).toBeGreaterThan(0);
    await database.db
      .deleteFrom('projections')
      .where('repo_id', '=', bench.repo.id)
      .where('status', '=', 'failed')
      .execute();
    await database.db
      .updateTable('issues')
      .set({ labels: ['svc:analyzing', 'svc:paused'] })
      .where('id', '=', (await bench.issue()).id)
      .execute();
  });

  test('does not change svc:paused, which people set and the intake applies', async () => {
    await settled();
    const { id } = await bench.issue();
    for (const labels of [['svc:analyzing', 'svc:paused'], ['svc:analyzing']]) {
      const is_paused = !labels.includes('svc:paused');
      await database.db.updateTable('issues').set({ labels, is_paused }).where('id', '=', id).execute();
      expect((await new LabelReconciler(bench.engine, () => new Date()).step()).repaired).toBe(0);
    }
    await database.db
      .updateTable('issues')
      .set({ labels: ['svc:analyzing'], is_paused: false })
      .where('id', '=', id)
      .execute();
  });

  test('ignores the labels of an issue that is done', async () => {
    await settled();
    await actOnIssue(bench.engine, await bench.key(), 'cancel', OLGA);
    await drain(bench);
    await relabel('labeled', 'svc:planning');
    expect((await new LabelReconciler(bench.engine, () => new Date()).step()).repaired).toBe(0);
  });
});

test('reads issues by twenty, continuing at the cursor', async () => {
  for (let n = 1; n <= 25; n += 1) await applyHostIssue(bench, hostIssue(n));
  await drain(bench);
  for (let n = 1; n <= 25; n += 1) {
    await applyHostIssue(bench, hostIssue(n, { labels: [] }), { action: 'labeled', label: 'svc:planning' });
  }
  const reconciler = new LabelReconciler(bench.engine, () => new Date());
  expect((await reconciler.step()).repaired).toBe(20);
  expect((await reconciler.step()).repaired).toBe(5);
  expect((await reconciler.step()).repaired).toBe(0);
});
