import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import {
  type Claimed,
  claimTasks,
  enqueueTasks,
  ensureTenant,
  finishTasks,
  insertIssue,
  inTransaction,
  lockIssueByNumber,
  type NewTask,
  upsertRepo,
} from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { aRepo } from '../a-repo.ts';

const database = testDatabase();
const LEASE_MS = 60_000;
let round = 0;
let tenantId: number;
let repoId: number;

beforeEach(async () => {
  round += 1;
  database.clock.now = new Date('2026-03-01T00:00:00Z');
  tenantId = await ensureTenant(database.store.tenant, `finish-${round}`);
  const repo = await inTransaction(database.store.tenant, (tx) => upsertRepo(tx, tenantId, aRepo('acme/shop')));
  repoId = repo.id;
});

async function enqueueAndClaim(count: number, issueId: number | null = null): Promise<Claimed[]> {
  const tasks = Array.from({ length: count }, (): NewTask => {
    const id = randomUUID();
    const work = { id, workId: id, repoId, issueId, issueNumber: issueId === null ? 0 : 1 };
    const waits = { held: null, runAfterMs: null, handoverRunId: null };
    return { ...work, ...waits, taskType: 'retrospect', priority: 80, attempt: 0, maxAttempts: 3 };
  });
  await enqueueTasks(database.store.tenant, tenantId, tasks);
  return claimTasks(database.store.tenant, tenantId, {
    taskTypes: ['retrospect'],
    repoIds: null,
    claimers: tasks.map(() => ({ workerId: 'w', tokenHash: randomUUID() })),
    leaseMs: LEASE_MS,
  });
}

const endOf = (claim: Claimed) => ({
  tokenHash: claim.claim_token_hash,
  outcome: 'retrospective',
  reportHash: `report of ${claim.id}`,
  answer: { state: null },
});
const finish = (claims: Claimed[]) => finishTasks(database.store.tenant, tenantId, claims.map(endOf));
const runs = () => database.db.selectFrom('runs').selectAll().where('tenant_id', '=', tenantId).execute();
const tasksLeft = async () =>
  (await database.db.selectFrom('tasks').select('id').where('tenant_id', '=', tenantId).execute()).length;

test('deletes finished tasks and stores the report of each run', async () => {
  const claims = await enqueueAndClaim(3);
  const finished = await finish(claims.slice(0, 2));
  expect(finished.sort()).toEqual(
    claims
      .slice(0, 2)
      .map(({ id }) => id)
      .sort(),
  );
  expect(await tasksLeft()).toBe(1);
  for (const run of (await runs()).filter(({ task_id }) => finished.includes(task_id))) {
    const report = { report_hash: `report of ${run.task_id}`, report_answer: { state: null } };
    expect(run).toMatchObject({ ...report, status: 'finished', outcome: 'retrospective' });
    expect(run.finished_at).toBe('2026-03-01T00:00:00.000Z');
  }
});

test('ends a claim once', async () => {
  const claims = await enqueueAndClaim(1);
  expect(await finish(claims)).toHaveLength(1);
  const first = await runs();
  database.clock.now = new Date('2026-03-01T00:00:01Z');
  expect(await finish(claims)).toEqual([]);
  expect(await runs()).toEqual(first);
});

test('leaves a claim with an expired lease to the reclaim', async () => {
  const claims = await enqueueAndClaim(1);
  database.clock.now = new Date('2026-03-01T00:01:01Z');
  expect(await finish(claims)).toEqual([]);
  expect(await tasksLeft()).toBe(1);
});

test('skips tasks of an issue, whose end must move the issue', async () => {
  const issueId = await inTransaction(database.store.tenant, async (tx) => {
    const at = '2026-01-01T00:00:00.000Z';
    const text = { title: 'One', body: '', url: 'http://127.0.0.1/1', author: 'ann' };
    await insertIssue(tx, tenantId, repoId, { ...text, number: 1, labels: [], createdAt: at, updatedAt: at });
    return (await lockIssueByNumber(tx, tenantId, repoId, 1))?.id ?? null;
  });
  expect(await finish(await enqueueAndClaim(1, issueId))).toEqual([]);
  expect(await tasksLeft()).toBe(1);
});
