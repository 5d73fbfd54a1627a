import { expect, test } from '@jest/globals';
import { type ClaimRequest, claim, drainWorker, registerWorker, report, returnClaim, start } from '@pipeline/engine';
import { sql } from 'kysely';
import { ALL_TASKS, WORKER } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage({ issues: 3 });
const { database } = bench;

const KEY = 'a-secret-of-this-claim';
const requestOf = (over: Partial<ClaimRequest> = {}): ClaimRequest => ({
  tenantId: bench.tenantId,
  workerId: bench.workerId,
  taskTypes: ALL_TASKS,
  repoIds: null,
  claimSecret: KEY,
  ...over,
});
const claimed = (over: Partial<ClaimRequest> = {}) => claim(bench.engine, requestOf(over));
const runs = () =>
  database.db
    .selectFrom('runs')
    .select(['id', 'status'])
    .where('tenant_id', '=', bench.tenantId)
    .orderBy('id')
    .execute();
const refOf = (task: { id: string; claimToken: string } | null) => ({
  tenantId: bench.tenantId,
  taskId: task?.id ?? '',
  claimToken: task?.claimToken ?? '',
});

test('returns the same task and token when a claim is repeated with its key', async () => {
  const first = await claimed();
  expect(first).toMatchObject({ issueNumber: 1, attempt: 0 });
  const again = await claimed();
  expect(again).toEqual(first);
  expect(await runs()).toHaveLength(1);
  await start(bench.engine, refOf(again));
  expect(await claimed()).toEqual(first);
  const outcome = { outcome: 'analyzed' as const, result: {}, artefacts: [], findings: [], invocations: [] };
  expect(await report(bench.engine, refOf(again), outcome)).toMatchObject({ state: 'planning' });
});

test('claims another task when the key is another one, or of another worker, or missing', async () => {
  const other = await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: 'other' });
  const first = await claimed();
  const numbers = [await claimed({ claimSecret: 'another' }), await claimed({ workerId: other })].map(
    (task) => task?.issueNumber,
  );
  expect([first?.issueNumber, ...numbers]).toEqual([1, 2, 3]);
  const { claimSecret: _, ...without } = requestOf();
  expect(await claim(bench.engine, without)).toBeNull();
});

test('claims with a new token when the claim of the key was returned, and repeats that one', async () => {
  const first = await claimed();
  await returnClaim(bench.engine, refOf(first));
  const second = await claimed();
  expect(second?.issueNumber).toBe(1);
  expect(second?.claimToken).not.toBe(first?.claimToken);
  expect(await claimed()).toEqual(second);
  await expect(start(bench.engine, refOf(first))).rejects.toMatchObject({ code: 'CLAIM_LOST' });
  expect((await runs()).map(({ status }) => status)).toEqual(['lost', 'claimed']);
});

test('claims again under a used key when the lease has ended', async () => {
  const first = await claimed();
  bench.pass(3_600);
  const second = await claimed();
  expect(second?.claimToken).not.toBe(first?.claimToken);
  expect(second?.issueNumber).toBe(2);
});

test('returns no task, and releases the claim, when a drain began before the claim was repeated', async () => {
  await claimed();
  await drainWorker(bench.engine, bench.workerId, true, OLGA);
  expect(await claimed()).toBeNull();
  expect((await runs()).map(({ status }) => status)).toEqual(['lost']);
});

test('returns one task for a claim and its concurrent retry', async () => {
  const tasks = await Promise.all(Array.from({ length: 6 }, () => claimed()));
  expect(new Set(tasks.map((task) => task?.claimToken)).size).toBe(1);
  expect(new Set(tasks.map((task) => task?.id)).size).toBe(1);
  expect(await runs()).toHaveLength(1);
});

test('repeats one claim and makes others in the same batch', async () => {
  const other = await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: 'other' });
  const first = await claimed();
  const { claimSecret: _, ...without } = requestOf({ workerId: other });
  const requests = [without, requestOf(), requestOf({ workerId: other, claimSecret: 'x' })];
  const tasks = await Promise.all(requests.map((request) => claim(bench.engine, request)));
  expect(tasks.map((task) => task?.issueNumber)).toEqual([2, 1, 3]);
  expect(tasks[1]?.claimToken).toBe(first?.claimToken);
});

const setPoolSize = (size: number) =>
  database.db.updateTable('repos').set({ pool_size: size }).where('tenant_id', '=', bench.tenantId).execute();

test('repeats a claim of a repo with a pool size, and other workers still claim there', async () => {
  await setPoolSize(2);
  const other = await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: 'other' });
  const first = await claimed();
  expect(first?.issueNumber).toBe(1);
  const { claimSecret: _, ...without } = requestOf({ workerId: other });
  const [again, beside] = await Promise.all([claimed(), claim(bench.engine, without)]);
  expect(again).toEqual(first);
  expect(beside?.issueNumber).toBe(2);
});

test('repeats a claim that followed one without a task', async () => {
  await setPoolSize(1);
  const blocking = await claimed({ claimSecret: 'another' });
  expect(await claimed()).toBeNull();
  await returnClaim(bench.engine, refOf(blocking));
  const first = await claimed();
  expect(first?.issueNumber).toBe(1);
  expect(await claimed()).toEqual(first);
});

test('fails a claim whose token stays in use by another run, instead of retrying without end', async () => {
  const { db } = database;
  await sql`
    create function refuse_run() returns trigger language plpgsql as $$
      begin raise unique_violation using constraint = 'runs_by_token',
        message = 'duplicate key value violates unique constraint "runs_by_token"'; end $$`.execute(db);
  await sql`create trigger refuse_run before insert on runs for each row execute function refuse_run()`.execute(db);
  try {
    await expect(claimed()).rejects.toThrow('runs_by_token');
  } finally {
    await sql`drop function refuse_run cascade`.execute(db);
  }
});

test('stores neither the token nor the key', async () => {
  const task = await claimed();
  const rows = await database.db.selectFrom('runs').selectAll().execute();
  const stored = JSON.stringify([rows, await database.db.selectFrom('tasks').selectAll().execute()]);
  expect(stored).not.toContain(task?.claimToken);
  expect(stored).not.toContain(KEY);
});
