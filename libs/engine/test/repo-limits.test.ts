import { beforeEach, expect, test } from '@jest/globals';
import { act, claim, fail, reclaimExpired } from '@pipeline/engine';
import { findIssue } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { ALL_TASKS, type Bench, finish, goodOutcome, hostIssue, makeBench, refOf, take, tell } from './harness.ts';

const database = testDatabase();
let bench: Bench;
let round = 0;

/** One claim at a time, and four issues that wait. */
beforeEach(async () => {
  round += 1;
  database.clock.now = new Date('2026-03-01T00:00:00Z');
  bench = await makeBench(database.store, { slug: `pool-${round}/shop` });
  const repos = database.db.updateTable('repos').set({ pool_size: 1 });
  await repos.where('tenant_id', '=', bench.tenantId).execute();
  for (let number = 1; number <= 4; number += 1) await tell(bench, hostIssue(number));
});

const claimNext = () => {
  const { engine, tenantId, workerId } = bench;
  return claim(engine, { tenantId, workerId, taskTypes: ALL_TASKS, repoIds: null });
};

test.each([
  ['reported', (task: Awaited<ReturnType<typeof take>>) => finish(bench, task, goodOutcome('analyze', 0))],
  [
    'failed',
    (task: Awaited<ReturnType<typeof take>>) =>
      fail(bench.engine, refOf(bench, task), { errorMessage: 'x', errorClass: 'transient', invocations: [] }),
  ],
  [
    'reclaimed',
    async () => {
      database.clock.now = new Date('2026-03-01T00:05:00Z');
      await reclaimExpired(bench.engine);
    },
  ],
  [
    'cancelled',
    async (task: Awaited<ReturnType<typeof take>>) => {
      const issue = await findIssue(database.db, bench.tenantId, bench.repo.id, task.issueNumber ?? 0);
      const key = { tenantId: bench.tenantId, issueId: issue?.id ?? 0 };
      await act(bench.engine, key, 'cancel', { type: 'operator', id: 'olga', agent: null });
    },
  ],
])('a repo that takes one task at a time has room when the one was %s, and those who wait are told', async (_, end) => {
  const task = await take(bench);
  expect(await claimNext()).toBeNull();
  bench.bells.length = 0;
  await end(task);
  expect(bench.bells).toContain('svc_tasks');
  expect(await claimNext()).not.toBeNull();
  expect(await claimNext()).toBeNull();
});
