import { beforeEach, expect, test } from '@jest/globals';
import { actOnIssue, fail, reclaimExpired } from '@pipeline/engine';
import { claimNext, finish, goodOutcome, refOf, take } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

/** A limit of one claim, and four waiting issues. */
const bench = new Stage({ issues: 4 });
beforeEach(async () => {
  const repos = bench.database.db.updateTable('repos').set({ pool_size: 1 });
  await repos.where('tenant_id', '=', bench.tenantId).execute();
});

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
      bench.pass(300);
      await reclaimExpired(bench.engine);
    },
  ],
  [
    'cancelled',
    async (task: Awaited<ReturnType<typeof take>>) => {
      await actOnIssue(bench.engine, await bench.key(task.issueNumber ?? 0), 'cancel', OLGA);
    },
  ],
])('a repo with a limit of one accepts a claim when the task was %s, and notifies waiting claims', async (_, end) => {
  const task = await take(bench);
  expect(await claimNext(bench)).toBeNull();
  bench.bells.length = 0;
  await end(task);
  expect(bench.bells).toContain('svc_tasks');
  expect(await claimNext(bench)).not.toBeNull();
  expect(await claimNext(bench)).toBeNull();
});
