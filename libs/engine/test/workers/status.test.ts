import { describe, expect, test } from '@jest/globals';
import { actOnIssue, heartbeat, registerWorker } from '@pipeline/engine';
import { finish, take, WORKER } from '../harness.ts';
import { OLGA } from '../stage.ts';
import { ANALYZED, WorkerStage } from './worker-stage.ts';

const bench = new WorkerStage();

describe('status', () => {
  test("follows the worker's claim, reported with its issue", async () => {
    const claimed = await take(bench);
    await finish(bench, claimed, ANALYZED);
    const [busy, idle] = await bench.publishedStatuses();
    const repo = `${bench.repo.owner}/shop`;
    expect(busy).toEqual({
      workerId: bench.workerId,
      repo,
      status: 'busy',
      issueNumber: 1,
      taskType: 'analyze',
    });
    expect(idle).toEqual({ workerId: bench.workerId, repo: null, status: 'idle', issueNumber: null, taskType: null });
  });

  test.each([
    ['one', ['acme/shop'], 'acme/shop'],
    ['one in two spellings', ['Acme/Shop', 'acme/shop'], 'Acme/Shop'],
    ['several', ['acme/shop', 'acme/tools'], null],
    ['all of its tenant', [], null],
  ])('names the only repo a worker without a task serves: %s', async (_what, repos, repo) => {
    await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: 'w2', repos });
    expect((await bench.publishedStatuses()).at(-1)).toMatchObject({ status: 'idle', repo });
  });

  test('names the repo of the claimed task when the worker serves several', async () => {
    const repo = `${bench.repo.owner}/shop`;
    await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: 'w1', repos: [repo, 'acme/tools'] });
    await take(bench);
    expect((await bench.publishedStatuses()).at(-1)).toMatchObject({ status: 'busy', repo, issueNumber: 1 });
  });

  test('a heartbeat without changes is one update without event and period', async () => {
    const statements: string[] = [];
    const store = bench.database.open({ onStatement: (text) => statements.push(text) });
    await bench.beat();
    const before = await bench.periods();
    const engine = { ...bench.engine, store };
    await heartbeat(engine, { tenantId: bench.tenantId, workerId: bench.workerId, status: 'idle', tasks: [] });
    await store.close();
    expect(statements.filter((text) => !text.trimStart().startsWith('select'))).toHaveLength(1);
    expect([await bench.publishedStatuses(), await bench.periods()]).toEqual([[], before]);
  });

  test('the status is busy with a claim and idle without one, whatever the worker reports', async () => {
    await take(bench);
    await bench.beat('idle');
    expect(await bench.worker()).toMatchObject({ status: 'busy' });
    await bench.again();
    await bench.beat('busy');
    expect(await bench.worker()).toMatchObject({ status: 'idle' });
  });

  test('the next heartbeat repairs a status that was not recorded because of a crash', async () => {
    const claimed = await take(bench);
    await bench.database.db.updateTable('workers').set({ status: 'idle' }).where('id', '=', bench.workerId).execute();
    await bench.beat('busy', claimed);
    expect(await bench.worker()).toMatchObject({ status: 'busy' });
  });

  test('the status is busy until the worker has released a cancelled task', async () => {
    const claimed = await take(bench);
    await actOnIssue(bench.engine, await bench.key(), 'cancel', OLGA);
    expect(await bench.worker()).toMatchObject({ status: 'busy' });
    expect(await bench.beat('busy', claimed)).toMatchObject({ cancelTaskIds: [claimed.id] });
    expect(await bench.statuses()).toEqual(['busy', 'idle']);
  });

  test('the status of a worker that reports finishing is draining until its restart', async () => {
    const claimed = await take(bench);
    expect(await bench.beat('draining', claimed)).toMatchObject({ draining: false });
    await finish(bench, claimed, ANALYZED);
    await bench.beat('leaving');
    await bench.again();
    expect(await bench.statuses()).toEqual(['busy', 'draining', 'offline', 'idle']);
  });
});
