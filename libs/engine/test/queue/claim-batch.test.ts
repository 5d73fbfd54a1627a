import { expect, test } from '@jest/globals';
import { type ClaimedTask, claim, drainWorker, reclaimExpired, registerWorker, report } from '@pipeline/engine';
import { ALL_TASKS, WORKER } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage({ issues: 3 });
const { database } = bench;

const register = (name: string) => registerWorker(bench.engine, bench.tenantId, { ...WORKER, name });

type Result = PromiseSettledResult<ClaimedTask | null>;

/** One batch: all requests arrive in one turn of the event loop. */
const claimFor = (workerIds: readonly string[]): Promise<Result[]> =>
  Promise.allSettled(
    workerIds.map((workerId) =>
      claim(bench.engine, { tenantId: bench.tenantId, workerId, taskTypes: ALL_TASKS, repoIds: null }),
    ),
  );

const taskOf = (result: Result | undefined) => (result?.status === 'fulfilled' ? result.value : undefined);

test('gives each of several concurrent claims its own task and token', async () => {
  const workerIds = [await register('a'), await register('b')];
  const tasks = (await claimFor(workerIds)).map(taskOf);
  expect(tasks.map((task) => task?.issueNumber)).toEqual([1, 2]);
  const runs = await database.db.selectFrom('runs').select(['task_id', 'worker_id']).orderBy('id').execute();
  expect(runs.slice(-2)).toEqual(tasks.map((task, at) => ({ task_id: task?.id, worker_id: workerIds[at] })));
  for (const task of tasks) {
    const ref = { tenantId: bench.tenantId, taskId: task?.id ?? '', claimToken: task?.claimToken ?? '' };
    const outcome = { outcome: 'analyzed' as const, result: {}, artefacts: [], findings: [], invocations: [] };
    expect(await report(bench.engine, ref, outcome)).toMatchObject({ state: 'planning' });
  }
});

test('gives the tasks to the first claims when there are more claims than tasks', async () => {
  const results = await claimFor([bench.workerId, ...(await Promise.all(['a', 'b', 'c', 'd'].map(register)))]);
  expect(results.map(taskOf).map((task) => task?.issueNumber ?? null)).toEqual([1, 2, 3, null, null]);
});

test('claims for the other workers when one is unknown and one is draining', async () => {
  const draining = await register('a');
  await drainWorker(bench.engine, draining, true, OLGA);
  const results = await claimFor(['wkr_nobody', draining, bench.workerId]);
  expect(results[0]).toMatchObject({ status: 'rejected', reason: { code: 'NOT_FOUND' } });
  expect(results[1]).toEqual({ status: 'fulfilled', value: null });
  expect(taskOf(results[2])).toMatchObject({ issueNumber: 1 });
});

test('fails only the claim that cannot be recorded', async () => {
  const { id } = await bench.issue(2);
  await database.db.updateTable('tasks').set({ repo_id: 999_999 }).where('issue_id', '=', id).execute();
  const results = await claimFor([bench.workerId, await register('a'), await register('b')]);
  const failed = results.filter(({ status }) => status === 'rejected');
  expect(failed).toMatchObject([{ reason: { message: expect.stringContaining('no repo 999999') } }]);
  const given = results.flatMap((result) => taskOf(result)?.issueNumber ?? []);
  expect(given.sort()).toEqual([1, 3]);
  // It is not started, so it is reclaimed like any claim that is not started.
  await database.db.updateTable('tasks').set({ repo_id: bench.repo.id }).where('issue_id', '=', id).execute();
  bench.pass(121);
  await reclaimExpired(bench.engine);
  const again = await claimFor(await Promise.all(['a', 'b', 'c'].map(register)));
  expect(again.map(taskOf).find((task) => task?.issueNumber === 2)).toMatchObject({ attempt: 1 });
});
