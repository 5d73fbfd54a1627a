import { describe, expect, test } from '@jest/globals';
import { progress, reclaimFromWorker, reclaimStalled, recordMessages, start } from '@pipeline/engine';
import { claimNext, finish, refOf, take } from '../harness.ts';
import { OLGA } from '../stage.ts';
import { ANALYZED, iso, WorkerStage } from './worker-stage.ts';

const bench = new WorkerStage();

describe('a claim without progress', () => {
  test('reclaims the claim after the stall limit as attempt + 1; its worker is stalled until it releases the task', async () => {
    const claimed = await take(bench);
    await bench.carryOn(claimed, 20, 880);
    bench.at(890);
    await bench.beat('busy', claimed);
    expect(await reclaimStalled(bench.engine)).toBe(0);
    bench.at(905);
    expect(await reclaimStalled(bench.engine)).toBe(1);
    expect(await bench.task()).toMatchObject({ status: 'pending', attempt: 1 });
    expect(await bench.worker()).toMatchObject({ status: 'idle', stalled_since: iso(900) });
    bench.at(910);
    expect(await bench.beat('busy', claimed)).toMatchObject({ cancelTaskIds: [claimed.id] });
    expect(await bench.worker()).toMatchObject({ stalled_since: iso(900) });
    bench.at(920);
    await bench.beat();
    expect(await bench.worker()).toMatchObject({ stalled_since: null });
    expect((await bench.periods()).slice(1)).toEqual([{ kind: 'stalled', started_at: iso(900), ended_at: iso(920) }]);
  });

  test.each<[string, (ref: ReturnType<typeof refOf>) => Promise<unknown>]>([
    ['a start', (ref) => start(bench.engine, ref)],
    ['progress', (ref) => progress(bench.engine, ref, { status: 'reading', details: null, invocations: [] })],
    ['a record', (ref) => recordMessages(bench.engine, ref, [])],
  ])('%s restarts the limit', async (_sign, give) => {
    const claimed = await take(bench);
    await bench.carryOn(claimed, 20, 800);
    await give(refOf(bench, claimed));
    await bench.carryOn(claimed, 820, 1_700);
    expect(await reclaimStalled(bench.engine)).toBe(0);
    bench.at(1_701);
    expect(await reclaimStalled(bench.engine)).toBe(1);
  });

  test('a claim on the last attempt blocks the issue for lack of progress', async () => {
    await bench.database.db.updateTable('tasks').set({ attempt: 2 }).where('tenant_id', '=', bench.tenantId).execute();
    const claimed = await take(bench);
    await bench.carryOn(claimed, 20, 920);
    await reclaimStalled(bench.engine);
    expect(await bench.issue()).toMatchObject({
      state: 'failure-blocked',
      block_reason: 'no_progress',
      block_classification: 'unknown',
    });
  });
});

describe('reclaim by an operator', () => {
  const reclaim = () => reclaimFromWorker(bench.engine, bench.workerId, OLGA);

  test.each([
    ['whose lease is over', 61],
    ['whose worker is silent for more than 30 s', 31],
  ])('reclaims a task %s', async (_why, seconds) => {
    const claimed = await take(bench);
    bench.at(seconds);
    expect(await reclaim()).toEqual({ taskId: claimed.id, issueNumber: 1 });
    expect(await bench.task()).toMatchObject({ status: 'pending', attempt: 1, claimed_by: null });
  });

  test('reclaims a task without progress for the stall limit', async () => {
    const claimed = await take(bench);
    await bench.carryOn(claimed, 20, 900);
    expect(await reclaim()).toBeNull();
    bench.at(901);
    expect(await reclaim()).toEqual({ taskId: claimed.id, issueNumber: 1 });
  });

  test('does not reclaim a task in progress', async () => {
    await take(bench);
    bench.at(29);
    expect(await reclaim()).toBeNull();
    expect(await bench.task()).toMatchObject({ status: 'claimed' });
  });

  test('repeats the last attempt: the task is pending, the issue is not blocked', async () => {
    await bench.database.db.updateTable('tasks').set({ attempt: 2 }).where('tenant_id', '=', bench.tenantId).execute();
    await take(bench);
    bench.at(61);
    await reclaim();
    expect(await bench.task()).toMatchObject({ status: 'pending', attempt: 2 });
  });

  test('lets another worker claim it, and notifies the first one to drop it', async () => {
    const claimed = await take(bench);
    bench.at(31);
    await reclaim();
    const { engine, tenantId } = bench;
    const second = await claimNext({ engine, tenantId, workerId: await bench.again('w2') });
    expect(second).toMatchObject({ id: claimed.id, attempt: 1 });
    expect(await bench.beat('busy', claimed)).toMatchObject({ cancelTaskIds: [claimed.id] });
    await expect(finish(bench, claimed, ANALYZED)).rejects.toMatchObject({ code: 'CLAIM_LOST' });
  });

  test('reclaims the task once when called concurrently', async () => {
    await take(bench);
    bench.at(61);
    const answers = await Promise.all([reclaim(), reclaim()]);
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
    expect(await bench.task()).toMatchObject({ attempt: 1 });
  });
});
