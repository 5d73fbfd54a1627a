import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Outcome } from '@pipeline/domain';
import {
  claim,
  drainWorker,
  heartbeat,
  progress,
  reclaimFromWorker,
  reclaimStalled,
  recordMessages,
  registerWorker,
  start,
  watchSilence,
} from '@pipeline/engine';
import { degradedSeconds, deleteOldPeriods, findIssue, lockWorker } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { ALL_TASKS, type Bench, finish, hostIssue, makeBench, refOf, take, tell } from './harness.ts';

const database = testDatabase();
const START = Date.parse('2026-03-01T00:00:00Z');
const OPERATOR = { type: 'operator' as const, id: 'olga', agent: null };
const ANALYZED: Outcome = { outcome: 'analyzed', result: {} };
let bench: Bench;
let number = 0;

beforeEach(async () => {
  number += 1;
  at(0);
  // Loops see all tenants: those of the tests before have no work and no workers any more.
  await database.db.deleteFrom('tasks').execute();
  await database.db
    .updateTable('workers')
    .set({ left_at: iso(0) })
    .execute();
  bench = await makeBench(database.store, { slug: `workers-${number}/shop` });
  await tell(bench, hostIssue(1));
});

const at = (seconds: number) => {
  database.clock.now = new Date(START + seconds * 1_000);
};
const iso = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
type Holding = { id: string; claimToken: string };
const beat = (status: 'idle' | 'busy' | 'draining' | 'leaving' = 'idle', ...tasks: Holding[]) =>
  heartbeat(bench.engine, {
    tenantId: bench.tenantId,
    workerId: bench.workerId,
    status,
    tasks: tasks.map(({ id, claimToken }) => ({ taskId: id, claimToken })),
  });
const request = () => ({ tenantId: bench.tenantId, workerId: bench.workerId, taskTypes: ALL_TASKS, repoIds: null });
const again = (name = 'w1') =>
  registerWorker(bench.engine, bench.tenantId, {
    name,
    hostname: '',
    version: '2',
    repos: [],
    taskTypes: ALL_TASKS,
    labels: {},
  });

/** What the stream tells, without the registration. */
const told = async () => {
  const rows = await database.db
    .selectFrom('stream_outbox')
    .select('data')
    .where('tenant_id', '=', bench.tenantId)
    .where('event_type', '=', 'worker-status')
    .orderBy('id')
    .execute();
  return rows.slice(1).map((row) => row.data as Record<string, unknown>);
};
const statuses = async () => (await told()).map(({ status }) => status);
const periods = () =>
  database.db
    .selectFrom('worker_periods')
    .select(['kind', 'started_at', 'ended_at'])
    .where('tenant_id', '=', bench.tenantId)
    .orderBy('started_at')
    .orderBy('kind')
    .execute();
const worker = () =>
  database.db.selectFrom('workers').selectAll().where('id', '=', bench.workerId).executeTakeFirstOrThrow();
const task = () =>
  database.db.selectFrom('tasks').selectAll().where('tenant_id', '=', bench.tenantId).executeTakeFirst();

describe('status', () => {
  test('follows what the worker holds, told with the issue while it holds one', async () => {
    const claimed = await take(bench);
    await finish(bench, claimed, ANALYZED);
    const [busy, idle] = await told();
    const repo = `workers-${number}/shop`;
    expect(busy).toEqual({
      workerId: bench.workerId,
      repo,
      status: 'busy',
      issueNumber: 1,
      taskType: 'analyze',
    });
    expect(idle).toEqual({ workerId: bench.workerId, repo: null, status: 'idle', issueNumber: null, taskType: null });
  });

  test('a heartbeat that brings no news writes no event and no period, and is one update', async () => {
    const statements: string[] = [];
    const store = database.open({ onStatement: (_pool, text) => statements.push(text) });
    await beat();
    const before = await periods();
    const engine = { ...bench.engine, store };
    await heartbeat(engine, { tenantId: bench.tenantId, workerId: bench.workerId, status: 'idle', tasks: [] });
    await store.close();
    expect(statements.filter((text) => !text.trimStart().startsWith('select'))).toHaveLength(1);
    expect([await told(), await periods()]).toEqual([[], before]);
  });

  test('a worker that says idle while it holds a claim is busy, and one that says busy without any is idle', async () => {
    await take(bench);
    await beat('idle');
    expect(await worker()).toMatchObject({ status: 'busy' });
    await again();
    await beat('busy');
    expect(await worker()).toMatchObject({ status: 'idle' });
  });

  test('that was not noted, for a process died in between, is mended by the next heartbeat', async () => {
    const claimed = await take(bench);
    await database.db.updateTable('workers').set({ status: 'idle' }).where('id', '=', bench.workerId).execute();
    await beat('busy', claimed);
    expect(await worker()).toMatchObject({ status: 'busy' });
  });

  test('of a cancelled task: busy until the worker has let go of it', async () => {
    const claimed = await take(bench);
    await database.db.deleteFrom('tasks').where('tenant_id', '=', bench.tenantId).execute();
    await database.db
      .updateTable('runs')
      .set({ status: 'cancelled' })
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    expect(await worker()).toMatchObject({ status: 'busy' });
    expect(await beat('busy', claimed)).toMatchObject({ cancelTaskIds: [claimed.id] });
    expect(await statuses()).toEqual(['busy', 'idle']);
  });

  test('a worker that finishes by its own will drains, and is itself again after a restart', async () => {
    const claimed = await take(bench);
    expect(await beat('draining', claimed)).toMatchObject({ draining: true });
    await finish(bench, claimed, ANALYZED);
    await beat('leaving');
    await again();
    expect(await statuses()).toEqual(['busy', 'draining', 'offline', 'idle']);
  });
});

describe('drain', () => {
  test('finishes the task at hand, claims nothing, and goes on when told so', async () => {
    const claimed = await take(bench);
    await drainWorker(bench.engine, bench.workerId, true, OPERATOR);
    expect(await beat('busy', claimed)).toMatchObject({ draining: true, cancelTaskIds: [] });
    expect(await finish(bench, claimed, ANALYZED)).toMatchObject({ state: 'planning' });
    expect(await claim(bench.engine, request())).toBeNull();
    await drainWorker(bench.engine, bench.workerId, false, OPERATOR);
    expect(await beat()).toMatchObject({ draining: false });
    expect(await take(bench)).toMatchObject({ taskType: 'plan' });
    expect(await statuses()).toEqual(['busy', 'draining', 'idle', 'busy']);
  });

  test('outlives a restart of the worker', async () => {
    await drainWorker(bench.engine, bench.workerId, true, OPERATOR);
    expect(await again()).toBe(bench.workerId);
    expect(await claim(bench.engine, request())).toBeNull();
    expect(await statuses()).toEqual(['draining']);
  });

  test('that comes while the worker claims: it gets nothing, and no attempt is lost', async () => {
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
    const drain = database.db.transaction().execute(async (tx) => {
      await lockWorker(tx, bench.tenantId, bench.workerId);
      await tx.updateTable('workers').set({ draining: true }).where('id', '=', bench.workerId).execute();
      onLocked();
      await mayCommit;
    });
    await locked;
    const claiming = claim(bench.engine, request());
    while ((await task())?.status !== 'claimed');
    commit();
    await drain;
    expect(await claiming).toBeNull();
    expect(await task()).toMatchObject({ status: 'pending', attempt: 0 });
  });

  test('is kept in the log of the repo, with who did it', async () => {
    await drainWorker(bench.engine, bench.workerId, true, { ...OPERATOR, reason: 'disk full' });
    const events = await database.db
      .selectFrom('pipeline_events')
      .selectAll()
      .where('tenant_id', '=', bench.tenantId)
      .where('event_type', '=', 'operator_action')
      .execute();
    expect(events).toMatchObject([
      {
        repo_id: bench.repo.id,
        issue_id: null,
        agent: 'olga',
        payload: { action: 'worker-drain', workerId: bench.workerId, actorId: 'olga', reason: 'disk full' },
      },
    ]);
  });
});

describe('silence', () => {
  test('of 30 s makes a worker offline; its periods end and begin when that was, not when it was noticed', async () => {
    at(10);
    await beat();
    at(39);
    expect(await watchSilence(bench.engine)).toBe(0);
    at(45);
    expect(await watchSilence(bench.engine)).toBe(1);
    expect(await watchSilence(bench.engine)).toBe(0);
    expect(await statuses()).toEqual(['offline']);
    expect(await periods()).toEqual([
      { kind: 'online', started_at: iso(0), ended_at: iso(10) },
      { kind: 'silent', started_at: iso(40), ended_at: null },
    ]);
    at(60);
    await beat();
    expect(await statuses()).toEqual(['offline', 'idle']);
    expect((await periods()).slice(1)).toEqual([
      { kind: 'silent', started_at: iso(40), ended_at: iso(60) },
      { kind: 'online', started_at: iso(60), ended_at: null },
    ]);
  });

  test('of a day counts as having left', async () => {
    at(100);
    await watchSilence(bench.engine);
    at(86_399);
    expect(await watchSilence(bench.engine)).toBe(0);
    at(86_402);
    const [one, two] = await Promise.all([watchSilence(bench.engine), watchSilence(bench.engine)]);
    expect(one + two).toBe(1);
    expect(await worker()).toMatchObject({ left_at: iso(86_402) });
    expect((await periods()).every(({ ended_at }) => ended_at !== null)).toBe(true);
    expect(await statuses()).toEqual(['offline']);
  });

  test('after leaving is none', async () => {
    at(5);
    await beat('leaving');
    at(500);
    expect(await watchSilence(bench.engine)).toBe(0);
    expect(await periods()).toEqual([{ kind: 'online', started_at: iso(0), ended_at: iso(5) }]);
  });

  test('noticed by two at once is told once', async () => {
    at(100);
    await Promise.all([watchSilence(bench.engine), watchSilence(bench.engine)]);
    expect(await statuses()).toEqual(['offline']);
  });

  test('a worker that left and came back at the same instant has one period', async () => {
    await beat('leaving');
    await again();
    expect(await periods()).toEqual([{ kind: 'online', started_at: iso(0), ended_at: null }]);
  });
});

/** Heartbeats go on, and nothing else. */
async function carryOn(claimed: Holding, from: number, to: number) {
  for (let second = from; second <= to; second += 20) {
    at(second);
    await beat('busy', claimed);
  }
}

describe('a claim without progress', () => {
  test('is taken back after the stall limit as attempt + 1; its worker is stalled until it lets go', async () => {
    const claimed = await take(bench);
    await carryOn(claimed, 20, 880);
    at(890);
    await beat('busy', claimed);
    expect(await reclaimStalled(bench.engine)).toBe(0);
    at(905);
    expect(await reclaimStalled(bench.engine)).toBe(1);
    expect(await task()).toMatchObject({ status: 'pending', attempt: 1 });
    expect(await worker()).toMatchObject({ status: 'idle', stalled_since: iso(900) });
    at(910);
    expect(await beat('busy', claimed)).toMatchObject({ cancelTaskIds: [claimed.id] });
    expect(await worker()).toMatchObject({ stalled_since: iso(900) });
    at(920);
    await beat();
    expect(await worker()).toMatchObject({ stalled_since: null });
    expect((await periods()).slice(1)).toEqual([{ kind: 'stalled', started_at: iso(900), ended_at: iso(920) }]);
  });

  test.each<[string, (ref: ReturnType<typeof refOf>) => Promise<unknown>]>([
    ['a start', (ref) => start(bench.engine, ref)],
    ['progress', (ref) => progress(bench.engine, ref, { status: 'reading', details: null, invocations: [] })],
    ['a record', (ref) => recordMessages(bench.engine, ref, [])],
  ])('%s begins the limit anew', async (_sign, give) => {
    const claimed = await take(bench);
    await carryOn(claimed, 20, 800);
    await give(refOf(bench, claimed));
    await carryOn(claimed, 820, 1_700);
    expect(await reclaimStalled(bench.engine)).toBe(0);
    at(1_701);
    expect(await reclaimStalled(bench.engine)).toBe(1);
  });

  test('on the last attempt blocks the issue, and says that there was no progress', async () => {
    await database.db.updateTable('tasks').set({ attempt: 2 }).where('tenant_id', '=', bench.tenantId).execute();
    const claimed = await take(bench);
    await carryOn(claimed, 20, 920);
    await reclaimStalled(bench.engine);
    expect(await findIssue(database.db, bench.tenantId, bench.repo.id, 1)).toMatchObject({
      state: 'failure-blocked',
      block_reason: 'no_progress',
      block_classification: 'unknown',
    });
  });
});

describe('reclaim by an operator', () => {
  const reclaim = () => reclaimFromWorker(bench.engine, bench.workerId, OPERATOR);

  test.each([
    ['whose lease is over', 61, 0],
    ['whose worker is silent for more than 30 s', 31, 0],
  ])('takes a task back %s', async (_why, seconds) => {
    const claimed = await take(bench);
    at(seconds);
    expect(await reclaim()).toEqual({ taskId: claimed.id, issueNumber: 1 });
    expect(await task()).toMatchObject({ status: 'pending', attempt: 1, claimed_by: null });
  });

  test('takes a task back that made no progress for the stall limit', async () => {
    const claimed = await take(bench);
    await carryOn(claimed, 20, 900);
    expect(await reclaim()).toBeNull();
    at(901);
    expect(await reclaim()).toEqual({ taskId: claimed.id, issueNumber: 1 });
  });

  test('leaves a task alone that is worked on', async () => {
    await take(bench);
    at(29);
    expect(await reclaim()).toBeNull();
    expect(await task()).toMatchObject({ status: 'claimed' });
  });

  test('on the last attempt gives it once more: the task is pending, the issue is not blocked', async () => {
    await database.db.updateTable('tasks').set({ attempt: 2 }).where('tenant_id', '=', bench.tenantId).execute();
    await take(bench);
    at(61);
    await reclaim();
    expect(await task()).toMatchObject({ status: 'pending', attempt: 2 });
  });

  test('another worker may claim it, and the first one is told to drop it', async () => {
    const claimed = await take(bench);
    at(31);
    await reclaim();
    const workerId = await again('w2');
    const second = await claim(bench.engine, { ...request(), workerId });
    expect(second).toMatchObject({ id: claimed.id, attempt: 1 });
    expect(await beat('busy', claimed)).toMatchObject({ cancelTaskIds: [claimed.id] });
    await expect(finish(bench, claimed, ANALYZED)).rejects.toMatchObject({ code: 'CLAIM_LOST' });
  });

  test('of two at once one gets the task', async () => {
    await take(bench);
    at(61);
    const answers = await Promise.all([reclaim(), reclaim()]);
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
    expect(await task()).toMatchObject({ attempt: 1 });
  });
});

describe('degraded time', () => {
  const period = (workerId: string, kind: 'online' | 'silent' | 'stalled', from: number, to: number | null) =>
    database.db
      .insertInto('worker_periods')
      .values({
        tenant_id: bench.tenantId,
        worker_id: workerId,
        kind,
        started_at: iso(from),
        ended_at: to === null ? null : iso(to),
      })
      .execute();

  test('is that of at least one worker, at most an hour for each period, from the moment asked for', async () => {
    await database.db.deleteFrom('worker_periods').execute();
    const other = await again('w2');
    await period(bench.workerId, 'silent', 0, 100);
    await period(other, 'stalled', 50, 150);
    await period(other, 'silent', 1_000, null);
    await period(bench.workerId, 'online', 5_000, 9_000);
    at(20_000);
    expect(await degradedSeconds(database.store.fleet, iso(20))).toBe(130 + 3_600);
    expect(await degradedSeconds(database.store.fleet, iso(4_000))).toBe(600);
    at(2_000);
    expect(await degradedSeconds(database.store.fleet, iso(20))).toBe(130 + 1_000);
  });

  test('is forgotten after a while, what runs is not', async () => {
    await database.db.deleteFrom('worker_periods').execute();
    await period(bench.workerId, 'silent', 0, 100);
    await period(bench.workerId, 'online', 100, null);
    at(1_000);
    expect(await deleteOldPeriods(database.store.fleet, 900_001)).toBe(0);
    expect(await deleteOldPeriods(database.store.fleet, 899_000)).toBe(1);
    expect((await periods()).map(({ kind }) => kind)).toEqual(['online']);
  });
});
