import { describe, expect, test } from '@jest/globals';
import type { IssueListItem } from '@pipeline/domain';
import { actOnIssue, claim, fail, progress, reclaimExpired } from '@pipeline/engine';
import { aggregateIssueCounts, checkIssueList, refreshIssueList, unfoldedRepos } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  applyHostIssue,
  type Bench,
  drain,
  finish,
  goodOutcome,
  hostIssue,
  makeBench,
  refOf,
  step,
  take,
} from '../harness.ts';

const database = testDatabase();
const CLEAN = { missing: 0, surplus: 0, stale: 0, miscounted: 0 };
let benches = 0;

async function freshBench(): Promise<Bench> {
  benches += 1;
  return makeBench(database.store, { slug: `org${benches}/shop` });
}

async function itemOf({ tenantId, repo }: Bench, number: number): Promise<IssueListItem> {
  const row = await database.db
    .selectFrom('issue_list')
    .select(['body', 'big_body'])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repo.id)
    .where('issue_number', '=', number)
    .executeTakeFirstOrThrow();
  return JSON.parse(row.body ?? row.big_body ?? '');
}

/** All counters other than zero, including pending deltas. */
async function countsOf({ tenantId }: Bench): Promise<Record<string, number>> {
  const all = [];
  for (const table of ['issue_counts', 'issue_count_deltas'] as const) {
    all.push(...(await database.db.selectFrom(table).selectAll().where('tenant_id', '=', tenantId).execute()));
  }
  const counts: Record<string, number> = {};
  for (const { state, is_paused, is_blocked, n } of all) {
    const key = `${state}${is_paused ? ' paused' : ''}${is_blocked ? ' blocked' : ''}`;
    counts[key] = (counts[key] ?? 0) + n;
  }
  return Object.fromEntries(Object.entries(counts).filter(([, n]) => n !== 0));
}

const operator = { type: 'operator', id: 'ann', agent: null } as const;

async function issueIdOf({ tenantId, repo }: Bench, number: number): Promise<number> {
  const { id } = await database.db
    .selectFrom('issues')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repo.id)
    .where('issue_number', '=', number)
    .executeTakeFirstOrThrow();
  return id;
}

describe('the list', () => {
  test('agrees with the issues at every step of their life', async () => {
    const bench = await freshBench();
    await applyHostIssue(bench, hostIssue(1, { title: 'A table of contents', labels: ['svc:enqueue', 'docs'] }));
    expect(await itemOf(bench, 1)).toMatchObject({
      title: 'A table of contents',
      state: 'analyzing',
      activeTaskType: 'analyze',
      assignedAgent: null,
      prNumber: null,
      createdAt: '2026-01-01T00:00:00.000Z',
    });
    for (let i = 0; i < 5; i += 1) {
      await step(bench);
      expect(await checkIssueList(database.db, bench.tenantId)).toEqual(CLEAN);
    }
    const item = await itemOf(bench, 1);
    expect(item).toMatchObject({ state: 'done', activeTaskType: null, labels: ['docs', 'svc:done'] });
    expect(item.prNumber).toBeGreaterThan(1_000);
    expect(await countsOf(bench)).toEqual({ done: 1 });
  });

  test('shows the agent of an issue, and none when the worker is lost', async () => {
    const bench = await freshBench();
    await applyHostIssue(bench, hostIssue(1));
    database.clock.now = new Date('2026-03-01T00:00:00Z');
    await take(bench);
    expect(await itemOf(bench, 1)).toMatchObject({ activeTaskType: 'analyze', assignedAgent: 'analyzer' });
    database.clock.now = new Date('2026-03-01T00:10:00Z');
    expect(await reclaimExpired(bench.engine)).toBe(1);
    expect(await itemOf(bench, 1)).toMatchObject({ activeTaskType: 'analyze', assignedAgent: null });
    database.clock.now = null;
    expect(await checkIssueList(database.db, bench.tenantId)).toEqual(CLEAN);
  });

  test('shows a status and a cost at most every five seconds', async () => {
    const bench = await freshBench();
    await applyHostIssue(bench, hostIssue(1));
    database.clock.now = new Date('2026-03-02T00:00:00Z');
    const task = await take(bench);
    const invocation = { index: 0, model: 'm', provider: 'p', inputTokens: 100_000, outputTokens: 100_000 };
    const calls = {
      ...invocation,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      turns: 1,
      stopReason: 'completed' as const,
    };
    const say = (status: string, costUsd: number) =>
      progress(bench.engine, refOf(bench, task), { status, details: null, invocations: [{ ...calls, costUsd }] });
    const shown = async () => {
      const { currentStatus, costUsd } = await itemOf(bench, 1);
      return [currentStatus, costUsd];
    };
    database.clock.now = new Date('2026-03-02T00:00:04Z');
    await say('reading', 0.1);
    expect(await shown()).toEqual([null, 0]);
    database.clock.now = new Date('2026-03-02T00:00:06Z');
    await say('thinking', 0.25);
    expect(await shown()).toEqual(['thinking', 0.25]);
    database.clock.now = new Date('2026-03-02T00:00:08Z');
    await say('writing', 0.3);
    expect(await shown()).toEqual(['thinking', 0.25]);
    // A change of the issue itself is shown immediately, with all deferred changes.
    await finish(bench, task, goodOutcome('analyze', 1));
    database.clock.now = null;
    expect(await itemOf(bench, 1)).toMatchObject({ state: 'planning', currentStatus: 'writing', costUsd: 0.3 });
  });

  test('truncates titles, labels and statuses of any length without failing the state change', async () => {
    const bench = await freshBench();
    const labels = ['svc:enqueue', ...Array.from({ length: 100 }, (_, i) => `${i}-${'é'.repeat(98)}`)];
    await applyHostIssue(bench, hostIssue(1, { title: '🦜'.repeat(5_000), labels }));
    const item = await itemOf(bench, 1);
    expect([...item.title]).toHaveLength(256);
    expect(item.title.endsWith('🦜…')).toBe(true);
    expect(item.labels).toHaveLength(20);
    expect(Math.max(...item.labels.map((label) => label.length))).toBe(100);
    const row = await database.db
      .selectFrom('issue_list')
      .selectAll()
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    expect(row[0]?.body).toBeNull();
    expect(await checkIssueList(database.db, bench.tenantId)).toEqual(CLEAN);
  });
});

describe('the counts', () => {
  test('follow pauses, blocks and their ends', async () => {
    const bench = await freshBench();
    for (const number of [1, 2, 3]) await applyHostIssue(bench, hostIssue(number));
    const key = { tenantId: bench.tenantId, issueId: await issueIdOf(bench, 2) };
    await actOnIssue(bench.engine, key, 'pause', operator);
    expect(await countsOf(bench)).toEqual({ analyzing: 2, 'analyzing paused': 1 });
    const task = await take(bench);
    const failure = { errorMessage: 'permission denied', errorClass: 'permanent' as const, invocations: [] };
    await fail(bench.engine, refOf(bench, task), failure);
    expect(await countsOf(bench)).toEqual({
      analyzing: 1,
      'analyzing paused': 1,
      'failure-blocked blocked': 1,
    });
    const blocked = { ...key, issueId: await issueIdOf(bench, task.issueNumber ?? 0) };
    await actOnIssue(bench.engine, blocked, 'unblock', operator);
    await actOnIssue(bench.engine, key, 'resume', operator);
    expect(await countsOf(bench)).toEqual({ analyzing: 3 });
    expect(await checkIssueList(database.db, bench.tenantId)).toEqual(CLEAN);
  });

  test('the counts are equal before and after aggregation, also when it runs twice', async () => {
    const bench = await freshBench();
    for (const number of [1, 2]) await applyHostIssue(bench, hostIssue(number));
    await drain(bench);
    await step(bench);
    const before = await countsOf(bench);
    const open = await unfoldedRepos(database.store.db, 100);
    expect(open).toContainEqual({ tenant_id: bench.tenantId, repo_id: bench.repo.id });
    const aggregate = () => aggregateIssueCounts(database.store.db, bench.tenantId, bench.repo.id);
    await Promise.all([aggregate(), aggregate()]);
    await aggregate();
    expect(await countsOf(bench)).toEqual(before);
    const left = await database.db.selectFrom('issue_count_deltas').selectAll().where('tenant_id', '=', bench.tenantId);
    expect(await left.execute()).toEqual([]);
    expect(await checkIssueList(database.db, bench.tenantId)).toEqual(CLEAN);
  });

  test('the counts are correct when a claim and an operator change one issue concurrently', async () => {
    const bench = await freshBench();
    for (let number = 1; number <= 8; number += 1) await applyHostIssue(bench, hostIssue(number));
    const keys = await Promise.all(
      [1, 2, 3, 4, 5, 6, 7, 8].map(async (n) => ({ tenantId: bench.tenantId, issueId: await issueIdOf(bench, n) })),
    );
    const request = {
      tenantId: bench.tenantId,
      workerId: bench.workerId,
      taskTypes: ['analyze' as const],
      repoIds: null,
    };
    await Promise.all([
      ...keys.map((key) => actOnIssue(bench.engine, key, 'pause', operator)),
      ...keys.map(() => claim(bench.engine, request)),
    ]);
    expect(await checkIssueList(database.db, bench.tenantId)).toEqual(CLEAN);
    expect(await countsOf(bench)).toEqual({ 'analyzing paused': 8 });
  });
});

test('a claim shows the issue after a concurrent change', async () => {
  const bench = await freshBench();
  await applyHostIssue(bench, hostIssue(1));
  const { tenantId, workerId } = bench;
  const issueId = await issueIdOf(bench, 1);
  let claiming: Promise<unknown> = Promise.resolve();
  await database.db.transaction().execute(async (tx) => {
    await tx.updateTable('issues').set({ is_paused: true }).where('id', '=', issueId).execute();
    await refreshIssueList(tx, tenantId, [issueId], false);
    claiming = claim(bench.engine, { tenantId, workerId, taskTypes: ['analyze'], repoIds: null });
    while (!(await somebodyWaits())) await new Promise(setImmediate);
  });
  await claiming;
  expect(await itemOf(bench, 1)).toMatchObject({ isPaused: true, assignedAgent: 'analyzer' });
  expect(await checkIssueList(database.db, tenantId)).toEqual(CLEAN);
});

/** Returns whether a session of this database waits for a lock. */
async function somebodyWaits(): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(database.db);
  return (rows[0]?.n ?? 0) > 0;
}

test('the check finds missing and wrong rows, and wrong counts', async () => {
  const bench = await freshBench();
  for (const number of [1, 2, 3]) await applyHostIssue(bench, hostIssue(number));
  const { tenantId } = bench;
  await database.db
    .updateTable('issues')
    .set({ title: 'changed behind the back' })
    .where('tenant_id', '=', tenantId)
    .where('issue_number', '=', 1)
    .execute();
  await database.db.deleteFrom('issue_list').where('tenant_id', '=', tenantId).where('issue_number', '=', 2).execute();
  await database.db
    .updateTable('issue_count_deltas')
    .set({ n: 5 })
    .where('tenant_id', '=', tenantId)
    .where('n', '=', 1)
    .execute();
  expect(await checkIssueList(database.db, tenantId)).toEqual({ missing: 1, surplus: 0, stale: 1, miscounted: 1 });
});
