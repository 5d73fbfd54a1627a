import { expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { type ClaimedTask, type Report, type ReportAnswer, report } from '@pipeline/engine';
import { lockIssue } from '@pipeline/store';
import { sql } from 'kysely';
import { applyHostIssue, goodOutcome, hostIssue, paid, refOf, take } from '../harness.ts';
import { Stage } from '../stage.ts';

const bench = new Stage({ issues: 5 });
const { database } = bench;

const bodyOf = (task: ClaimedTask, over: Partial<Report> = {}): Report =>
  ({
    ...goodOutcome(task.taskType, task.issueNumber ?? 0),
    artefacts: [],
    findings: [],
    invocations: [paid(0.5)],
    ...over,
  }) as Report;

const takeAll = async (count: number): Promise<ClaimedTask[]> => {
  const tasks: ClaimedTask[] = [];
  for (let taken = 0; taken < count; taken += 1) tasks.push(await take(bench));
  return tasks;
};

/** One batch: all requests arrive in one turn of the event loop. */
const reportAll = (reports: readonly [ClaimedTask, Report?][]): Promise<PromiseSettledResult<ReportAnswer>[]> =>
  Promise.allSettled(reports.map(([task, body]) => report(bench.engine, refOf(bench, task), body ?? bodyOf(task))));

const statesOf = (results: readonly PromiseSettledResult<ReportAnswer>[]) =>
  results.map((result) => (result.status === 'fulfilled' ? result.value.state : result.reason.code));

const spent = async () => {
  const rows = database.db.selectFrom('daily_spend').select('spent_usd').where('tenant_id', '=', bench.tenantId);
  return (await rows.executeTakeFirst())?.spent_usd;
};

test('a report with a lost claim, and one with an outcome of another task, fail alone', async () => {
  const [lost, wrong, good] = await takeAll(3);
  if (!lost || !wrong || !good) throw new Error('three tasks are claimed');
  const results = await reportAll([
    [{ ...lost, claimToken: 'forged' }],
    [wrong, bodyOf({ ...wrong, taskType: 'plan' })],
    [good],
  ]);
  expect(statesOf(results)).toEqual(['CLAIM_LOST', 'INVALID_ARGUMENT', 'planning']);
  expect(await spent()).toBe(0.5);
});

test('a doubled report is applied once, and both requests get its response', async () => {
  const [task, other] = await takeAll(2);
  if (!task || !other) throw new Error('two tasks are claimed');
  const results = await reportAll([[task], [task], [other]]);
  expect(statesOf(results)).toEqual(['planning', 'planning', 'planning']);
  expect(await spent()).toBe(1);
  expect(await bench.transitions(task.issueNumber ?? 0)).toHaveLength(2);
});

test('a report of an issue that another transaction has locked waits alone', async () => {
  const [locked, free] = await takeAll(2);
  if (!locked || !free) throw new Error('two tasks are claimed');
  const { id } = await bench.issue(locked.issueNumber ?? 0);
  const waiting = await database.db.transaction().execute(async (tx) => {
    await lockIssue(tx, bench.tenantId, id);
    const late = report(bench.engine, refOf(bench, locked), bodyOf(locked));
    expect(await report(bench.engine, refOf(bench, free), bodyOf(free))).toMatchObject({ state: 'planning' });
    return { late };
  });
  expect(await waiting.late).toMatchObject({ state: 'planning' });
});

test('a worker that goes on to hold a claim whose report waits elsewhere stays busy', async () => {
  const [locked, free] = await takeAll(2);
  if (!locked || !free) throw new Error('two tasks are claimed');
  const status = async () => {
    const rows = database.db.selectFrom('workers').select('status').where('tenant_id', '=', bench.tenantId);
    return (await rows.where('id', '=', bench.workerId).executeTakeFirstOrThrow()).status;
  };
  const { id } = await bench.issue(locked.issueNumber ?? 0);
  const waiting = await database.db.transaction().execute(async (tx) => {
    await lockIssue(tx, bench.tenantId, id);
    const late = report(bench.engine, refOf(bench, locked), bodyOf(locked));
    await report(bench.engine, refOf(bench, free), bodyOf(free));
    expect(await status()).toBe('busy');
    return { late };
  });
  await waiting.late;
  expect(await status()).toBe('idle');
});

test('a report that the store refuses leaves no trace and no other report fails', async () => {
  const tasks = await takeAll(3);
  const refused = tasks[1]?.issueNumber ?? 0;
  const { id } = await bench.issue(refused);
  await sql`
    create function refuse_move() returns trigger language plpgsql as $$
      begin raise exception 'no move'; end $$`.execute(database.db);
  await sql`
    create trigger refuse_move before update of state on issues for each row
      when (old.id = ${sql.lit(id)}) execute function refuse_move()`.execute(database.db);
  const results = await reportAll(tasks.map((task) => [task]));
  await sql`drop function refuse_move cascade`.execute(database.db);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await spent()).toBe(1);
  expect((await bench.issue(refused)).state).toBe('analyzing');
  expect(statesOf(await reportAll(tasks.slice(1, 2).map((task) => [task])))).toEqual(['planning']);
});

test('the day of a tenant reaches its limit within a batch: later tasks are held, and it is reported once', async () => {
  const costLimits = { ...DEFAULT_SETTINGS.costLimits, dailyUsd: 1 };
  bench.engine.settings = () => ({ ...DEFAULT_SETTINGS, costLimits });
  const tasks = await takeAll(3);
  await reportAll(tasks.map((task) => [task]));
  const next = (await bench.tasks()).filter(({ task_type }) => task_type === 'plan');
  expect(next.map(({ held }) => held).sort()).toEqual(['budget', 'budget', null]);
  const reached = await database.db
    .selectFrom('pipeline_events')
    .select('payload')
    .where('tenant_id', '=', bench.tenantId)
    .where('event_type', '=', 'budget_threshold')
    .orderBy('id')
    .execute();
  expect(reached.map(({ payload }) => payload)).toContainEqual({ percent: 100, scope: 'day' });
  expect(new Set(reached.map(({ payload }) => JSON.stringify(payload))).size).toBe(reached.length);
});

test('reports of two tenants do not share a transaction', async () => {
  const tasks = await takeAll(2);
  const [own, foreign] = tasks;
  if (!own || !foreign) throw new Error('two tasks are claimed');
  const ref = { ...refOf(bench, foreign), tenantId: bench.tenantId + 1 };
  const results = await Promise.allSettled([
    report(bench.engine, refOf(bench, own), bodyOf(own)),
    report(bench.engine, ref, bodyOf(foreign)),
  ]);
  expect(statesOf(results)).toEqual(['planning', 'CLAIM_LOST']);
});

test('the list shows the cost of an issue whose side task was reported beside a work task of another', async () => {
  await applyHostIssue(bench, hostIssue(9));
  const [first, second] = await takeAll(2);
  if (!first || !second) throw new Error('two tasks are claimed');
  await database.db.updateTable('tasks').set({ task_type: 'retrospect' }).where('id', '=', first.id).execute();
  await database.db.updateTable('runs').set({ task_type: 'retrospect' }).where('task_id', '=', first.id).execute();
  bench.pass(10);
  const side = bodyOf({ ...first, taskType: 'retrospect' });
  expect(statesOf(await reportAll([[first, side], [second]]))).toEqual(['analyzing', 'planning']);
  const listed = await database.db
    .selectFrom('issue_list')
    .select('body')
    .where('tenant_id', '=', bench.tenantId)
    .where('issue_number', '=', first.issueNumber ?? 0)
    .executeTakeFirst();
  expect(JSON.parse(String(listed?.body))).toMatchObject({ costUsd: 0.5 });
});
