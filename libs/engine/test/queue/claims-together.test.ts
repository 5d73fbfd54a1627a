import { expect, test } from '@jest/globals';
import { drainWorker, reclaimExpired, registerWorker, report, type Taken, takeTogether } from '@pipeline/engine';
import { ALL_TASKS, WORKER } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage({ issues: 3 });
const { database } = bench;

const register = (name: string) => registerWorker(bench.engine, bench.tenantId, { ...WORKER, name });

const claimFor = (workerIds: readonly string[]) =>
  takeTogether(
    bench.engine,
    workerIds.map((workerId) => ({ tenantId: bench.tenantId, workerId, taskTypes: ALL_TASKS, repoIds: null })),
  );

const taskOf = (answer: Taken | undefined) => (answer?.status === 'fulfilled' ? answer.value?.task : undefined);

test('concurrent claims get a task each, with separate tokens', async () => {
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

test('the first of too many concurrent claims get the tasks', async () => {
  const answers = await claimFor([bench.workerId, ...(await Promise.all(['a', 'b', 'c', 'd'].map(register)))]);
  expect(answers.map(taskOf).map((task) => task?.issueNumber ?? null)).toEqual([1, 2, 3, null, null]);
});

test('refuses an unknown worker and gives a draining one nothing, without affecting other claims', async () => {
  const draining = await register('a');
  await drainWorker(bench.engine, draining, true, OLGA);
  const answers = await claimFor(['wkr_nobody', draining, bench.workerId]);
  expect(answers[0]).toMatchObject({ status: 'rejected', reason: { code: 'NOT_FOUND' } });
  expect(answers[1]).toEqual({ status: 'fulfilled', value: null });
  expect(taskOf(answers[2])).toMatchObject({ issueNumber: 1 });
});

test('a claim that cannot be recorded fails alone', async () => {
  const { id } = await bench.issue(2);
  await database.db.updateTable('tasks').set({ repo_id: 999_999 }).where('issue_id', '=', id).execute();
  const answers = await claimFor([bench.workerId, await register('a'), await register('b')]);
  const failed = answers.filter(({ status }) => status === 'rejected');
  expect(failed).toMatchObject([{ reason: { message: expect.stringContaining('no repo 999999') } }]);
  const given = answers.flatMap((answer) => taskOf(answer)?.issueNumber ?? []);
  expect(given.sort()).toEqual([1, 3]);
  // It is not started, so it is reclaimed like any claim that is not started.
  await database.db.updateTable('tasks').set({ repo_id: bench.repo.id }).where('issue_id', '=', id).execute();
  bench.pass(121);
  await reclaimExpired(bench.engine);
  const again = await claimFor(await Promise.all(['a', 'b', 'c'].map(register)));
  expect(again.map(taskOf).find((task) => task?.issueNumber === 2)).toMatchObject({ attempt: 1 });
});
