import { beforeEach, describe, expect, test } from '@jest/globals';
import { comparedAgentOf } from '@pipeline/domain';
import { actOnIssue, drainWorker, explainIssue, fail, heartbeat, registerWorker } from '@pipeline/engine';
import { type OrgScope, withoutWorkerByType } from '@pipeline/store';
import { claimNext, makeBench, refOf, take, WORKER } from '../harness.ts';
import { updateRepo } from '../repo-columns.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();
const { database } = bench;

const register = (over: object = {}, tenantId = bench.tenantId) =>
  registerWorker(bench.engine, tenantId, { ...WORKER, name: 'late', ...over });

const why = () => {
  const scope = { tenantId: bench.tenantId, userId: 1, role: 'owner', repoIds: null } as unknown as OrgScope;
  return explainIssue(database.store, scope, { slug: `${bench.repo.owner}/shop`, number: 1 });
};
const isNamed = async () => (await why()).explanation.includes('none is online');

/** Returns whether `why` and the counts of all tenants report that no worker is there. Both must agree. */
async function isAlone(): Promise<boolean> {
  const counted = (await withoutWorkerByType(database.store.db)).some(({ count }) => count > 0);
  expect(await isNamed()).toBe(counted);
  return counted;
}

const hold = (held: 'backoff' | null) =>
  database.db.updateTable('tasks').set({ held }).where('tenant_id', '=', bench.tenantId).execute();
const setRepo = (over: object) =>
  database.db.updateTable('repos').set(over).where('tenant_id', '=', bench.tenantId).execute();

/** Earlier tests leave waiting tasks, which would count as well. */
beforeEach(async () => {
  await database.db
    .updateTable('tasks')
    .set({ ready_at: '2036-01-01T00:00:00Z' })
    .where('tenant_id', '<>', bench.tenantId)
    .execute();
  await database.db
    .updateTable('workers')
    .set({ left_at: '2026-02-01T00:00:00Z', last_heartbeat_at: '2026-02-01T00:00:00Z' })
    .execute();
});

describe('a waiting task', () => {
  test('the task has no worker once it has waited for two minutes, and has one again when a worker comes', async () => {
    bench.pass(120);
    expect(await isAlone()).toBe(false);
    bench.pass(1);
    expect(await isAlone()).toBe(true);
    expect(await withoutWorkerByType(database.store.db)).toEqual([
      { taskType: 'analyze', count: 1, oldestMs: 121_000 },
    ]);
    expect((await why()).recommendations).toEqual([
      `Start a worker that takes analyze tasks of ${bench.repo.owner}/shop, or resume one that is draining (docs/agents.md).`,
    ]);
    await register();
    expect(await isAlone()).toBe(false);
  });

  test('the task has a worker for two minutes after the only one has left', async () => {
    bench.pass(600);
    const workerId = await register();
    await heartbeat(bench.engine, { tenantId: bench.tenantId, workerId, status: 'leaving', tasks: [] });
    bench.pass(119);
    expect(await isAlone()).toBe(false);
    bench.pass(2);
    expect(await isAlone()).toBe(true);
  });

  test('the task has a worker while the only one is busy', async () => {
    bench.pass(600);
    const workerId = await register();
    await database.db.updateTable('workers').set({ status: 'busy' }).where('id', '=', workerId).execute();
    expect(await isAlone()).toBe(false);
  });

  test('the task has no worker while the only one is drained', async () => {
    bench.pass(600);
    await drainWorker(bench.engine, await register(), true, OLGA);
    expect(await isAlone()).toBe(true);
  });

  test.each([
    ['does not take its type', { taskTypes: ['review'] }],
    ['serves other repos', { repos: ['other/repo'] }],
  ])('the task has no worker when the only worker %s', async (_, over) => {
    bench.pass(600);
    await register(over);
    expect(await isAlone()).toBe(true);
  });

  test('the task has no worker when the only worker is of another tenant', async () => {
    const other = await makeBench(database.store, { slug: `${bench.repo.owner}-other/shop` });
    bench.pass(600);
    await register({}, other.tenantId);
    expect(await isAlone()).toBe(true);
  });

  test('a worker that names its repo in another case counts', async () => {
    bench.pass(600);
    await register({ repos: [`${bench.repo.owner}/SHOP`] });
    expect(await isAlone()).toBe(false);
  });

  test('the task is not named while it is paused or put off, or its repo is disabled or unavailable', async () => {
    bench.pass(600);
    await actOnIssue(bench.engine, await bench.key(), 'pause', OLGA);
    expect(await isAlone()).toBe(false);
    await actOnIssue(bench.engine, await bench.key(), 'resume', OLGA);
    bench.pass(600);
    await hold('backoff');
    expect(await isAlone()).toBe(false);
    await hold(null);
    expect(await isAlone()).toBe(true);
    await setRepo({ unavailable: 'archived', unavailable_since: '2026-03-01T00:00:00Z' });
    expect(await isAlone()).toBe(false);
    await setRepo({ unavailable: null, unavailable_since: null, enabled: false });
    expect(await withoutWorkerByType(database.store.db)).toEqual([]);
  });

  test('the task is not named once it is claimed', async () => {
    bench.pass(600);
    await take(bench);
    expect(await isAlone()).toBe(false);
  });

  test('needs a worker with its agent when agents are compared', async () => {
    const compare = { analyze: { claude: 1, codex: 1 } };
    const agent = comparedAgentOf(compare, { repoId: bench.repo.id, issueNumber: 1, taskType: 'analyze' });
    await updateRepo(bench, { compare });
    const task = await claimNext(bench);
    if (task)
      await fail(bench.engine, refOf(bench, task), {
        errorMessage: 'denied',
        errorClass: 'permanent',
        invocations: [],
      });
    await actOnIssue(bench.engine, await bench.key(), 'retry', OLGA);
    bench.pass(600);
    await register({ agents: ['another'] });
    expect(await isAlone()).toBe(true);
    expect((await why()).explanation).toContain(`with the agent ${agent} (none is online)`);
    await register({ name: 'fitting', agents: [agent] });
    expect(await isAlone()).toBe(false);
  });
});
