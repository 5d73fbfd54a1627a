import { expect, test } from '@jest/globals';
import { heartbeat, report, start } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { applyHostIssue, claimNext, goodOutcome, hostIssue, makeBench, paid, refOf } from '../harness.ts';

const database = testDatabase();

/** The server compares five plans for the given values with one for any values, and then keeps the cheaper kind. */
const CUSTOM_AT_FIRST = 5;

test('no statement of a claim, a start, a heartbeat or a report is planned again for each call', async () => {
  const store = database.open({ poolSize: 1 });
  const bench = await makeBench(store);
  for (let number = 1; number <= 15; number += 1) await applyHostIssue(bench, hostIssue(number));
  for (let task = await claimNext(bench); task; task = await claimNext(bench)) {
    await start(bench.engine, refOf(bench, task));
    await heartbeat(bench.engine, {
      tenantId: bench.tenantId,
      workerId: bench.workerId,
      status: 'busy',
      tasks: [refOf(bench, task)],
    });
    const outcome = goodOutcome(task.taskType, task.issueNumber ?? 0);
    const body = { ...outcome, artefacts: [], findings: [], invocations: [paid(0.01)] };
    await report(bench.engine, refOf(bench, task), body);
  }
  const { rows } = await sql<{ name: string; custom: number; generic: number }>`
    select name, custom_plans as custom, generic_plans as generic from pg_prepared_statements`.execute(store.db);
  const often = rows.filter(({ custom, generic }) => custom + generic > 2 * CUSTOM_AT_FIRST);
  expect(often.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'claim-tasks',
      'lock-claims',
      'task-payload',
      'start-task',
      'extend-leases',
      'lock-claim-and-worker',
      'claim-context',
    ]),
  );
  expect(often.filter(({ custom }) => custom > CUSTOM_AT_FIRST)).toEqual([]);
  await store.close();
});
