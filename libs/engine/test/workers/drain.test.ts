import { describe, expect, test } from '@jest/globals';
import { drainWorker } from '@pipeline/engine';
import { lockWorker } from '@pipeline/store';
import { claimNext, finish, take } from '../harness.ts';
import { OLGA } from '../stage.ts';
import { ANALYZED, WorkerStage } from './worker-stage.ts';

const bench = new WorkerStage();

describe('drain', () => {
  test('lets the worker finish its task, claim nothing, and continue when it ends', async () => {
    const claimed = await take(bench);
    await drainWorker(bench.engine, bench.workerId, true, OLGA);
    expect(await bench.beat('busy', claimed)).toMatchObject({ draining: true, cancelTaskIds: [] });
    expect(await finish(bench, claimed, ANALYZED)).toMatchObject({ state: 'planning' });
    expect(await claimNext(bench)).toBeNull();
    await drainWorker(bench.engine, bench.workerId, false, OLGA);
    expect(await bench.beat()).toMatchObject({ draining: false });
    expect(await take(bench)).toMatchObject({ taskType: 'plan' });
    expect(await bench.statuses()).toEqual(['busy', 'draining', 'idle', 'busy']);
  });

  test('ends also for a worker that repeats it in its heartbeats', async () => {
    await drainWorker(bench.engine, bench.workerId, true, OLGA);
    expect(await bench.beat('draining')).toMatchObject({ draining: true });
    await drainWorker(bench.engine, bench.workerId, false, OLGA);
    expect(await bench.beat('draining')).toMatchObject({ draining: false });
    await bench.beat();
    expect(await take(bench)).toMatchObject({ taskType: 'analyze' });
  });

  test('reported by the worker itself gives it no task until it reports otherwise', async () => {
    await bench.beat('draining');
    expect(await claimNext(bench)).toBeNull();
    await bench.beat();
    expect(await take(bench)).toMatchObject({ taskType: 'analyze' });
  });

  test('reported by the worker itself ends with its restart', async () => {
    await bench.beat('draining');
    await bench.again();
    expect(await take(bench)).toMatchObject({ taskType: 'analyze' });
  });

  test('outlives a restart of the worker', async () => {
    await drainWorker(bench.engine, bench.workerId, true, OLGA);
    expect(await bench.again()).toBe(bench.workerId);
    expect(await claimNext(bench)).toBeNull();
    expect(await bench.statuses()).toEqual(['draining']);
  });

  test('during a claim returns no task, and no attempt is used', async () => {
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
    const drain = bench.database.db.transaction().execute(async (tx) => {
      await lockWorker(tx, bench.tenantId, bench.workerId);
      await tx.updateTable('workers').set({ draining: true }).where('id', '=', bench.workerId).execute();
      onLocked();
      await mayCommit;
    });
    await locked;
    const claiming = claimNext(bench);
    while ((await bench.task())?.status !== 'claimed');
    commit();
    await drain;
    expect(await claiming).toBeNull();
    expect(await bench.task()).toMatchObject({ status: 'pending', attempt: 0 });
  });

  test('records a drain in the log of the repo, with the actor', async () => {
    await drainWorker(bench.engine, bench.workerId, true, { ...OLGA, reason: 'disk full' });
    const events = await bench.database.db
      .selectFrom('pipeline_events')
      .selectAll()
      .where('tenant_id', '=', bench.tenantId)
      .where('event_type', '=', 'operator_action')
      .execute();
    expect(events).toMatchObject([
      {
        repo_id: bench.repo.id,
        issue_id: null,
        agent: 'olga',
        payload: { action: 'worker-drain', workerId: bench.workerId, actorId: 'olga', reason: 'disk full' },
      },
    ]);
  });
});
