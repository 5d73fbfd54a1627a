import { describe, expect, test } from '@jest/globals';
import { act, heartbeat, registerWorker } from '@pipeline/engine';
import { finish, take, WORKER } from '../harness.ts';
import { OLGA } from '../stage.ts';
import { ANALYZED, WorkerStage } from './worker-stage.ts';

const bench = new WorkerStage();

describe('status', () => {
  test('follows what the worker holds, told with the issue while it holds one', async () => {
    const claimed = await take(bench);
    await finish(bench, claimed, ANALYZED);
    const [busy, idle] = await bench.told();
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
    ['one by two spellings', ['Acme/Shop', 'acme/shop'], 'Acme/Shop'],
    ['several', ['acme/shop', 'acme/tools'], null],
    ['all of its tenant', [], null],
  ])('names the repo of a worker without a task unless it serves several: %s', async (_what, repos, repo) => {
    await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: 'w2', repos });
    expect((await bench.told()).at(-1)).toMatchObject({ status: 'idle', repo });
  });

  test('names the repo of the task in hand when the worker serves several', async () => {
    const repo = `${bench.repo.owner}/shop`;
    await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: 'w1', repos: [repo, 'acme/tools'] });
    await take(bench);
    expect((await bench.told()).at(-1)).toMatchObject({ status: 'busy', repo, issueNumber: 1 });
  });

  test('a heartbeat that brings no news writes no event and no period, and is one update', async () => {
    const statements: string[] = [];
    const store = bench.database.open({ onStatement: (_pool, text) => statements.push(text) });
    await bench.beat();
    const before = await bench.periods();
    const engine = { ...bench.engine, store };
    await heartbeat(engine, { tenantId: bench.tenantId, workerId: bench.workerId, status: 'idle', tasks: [] });
    await store.close();
    expect(statements.filter((text) => !text.trimStart().startsWith('select'))).toHaveLength(1);
    expect([await bench.told(), await bench.periods()]).toEqual([[], before]);
  });

  test('a worker that says idle while it holds a claim is busy, and one that says busy without any is idle', async () => {
    await take(bench);
    await bench.beat('idle');
    expect(await bench.worker()).toMatchObject({ status: 'busy' });
    await bench.again();
    await bench.beat('busy');
    expect(await bench.worker()).toMatchObject({ status: 'idle' });
  });

  test('that was not noted, for a process died in between, is mended by the next heartbeat', async () => {
    const claimed = await take(bench);
    await bench.database.db.updateTable('workers').set({ status: 'idle' }).where('id', '=', bench.workerId).execute();
    await bench.beat('busy', claimed);
    expect(await bench.worker()).toMatchObject({ status: 'busy' });
  });

  test('of a cancelled task: busy until the worker has let go of it', async () => {
    const claimed = await take(bench);
    await act(bench.engine, await bench.key(), 'cancel', OLGA);
    expect(await bench.worker()).toMatchObject({ status: 'busy' });
    expect(await bench.beat('busy', claimed)).toMatchObject({ cancelTaskIds: [claimed.id] });
    expect(await bench.statuses()).toEqual(['busy', 'idle']);
  });

  test('a worker that finishes by its own will drains, and is itself again after a restart', async () => {
    const claimed = await take(bench);
    expect(await bench.beat('draining', claimed)).toMatchObject({ draining: true });
    await finish(bench, claimed, ANALYZED);
    await bench.beat('leaving');
    await bench.again();
    expect(await bench.statuses()).toEqual(['busy', 'draining', 'offline', 'idle']);
  });
});
