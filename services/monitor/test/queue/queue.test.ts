import { beforeAll, expect, test } from '@jest/globals';
import { TASK_TYPES } from '@pipeline/domain';
import { beginSending, claim, registerWorker, sendable, settle } from '@pipeline/engine';
import { addDeadLetter, admit } from '../support/bench.ts';
import { Shop } from '../support/shop.ts';

const bench = new Shop();
const { database, call } = bench;
const at = (seconds: number) => {
  database.clock.now = new Date(Date.parse('2026-03-01T00:00:00Z') + seconds * 1_000);
};

const drainWorkers = (draining: boolean) => database.db.updateTable('workers').set({ draining }).execute();

beforeAll(() => at(0));

const noneAlone = { withoutWorker: 0, oldestWithoutWorkerAgeMs: null };
const nothing = { pending: 0, claimed: 0, oldestPendingAgeMs: null, ...noneAlone };

test('an empty pipeline: every type is listed, with nothing', async () => {
  expect((await call('GET', '/api/queue/depth')).json).toEqual({
    pendingTaskCount: 0,
    claimedTaskCount: 0,
    byTaskType: TASK_TYPES.map((taskType) => ({ taskType, ...nothing })),
    dlqDepth: 0,
    vcsWriteQueueDepth: 0,
    vcsWriteQueueFailed: 0,
    serverTimestamp: '2026-03-01T00:00:00.000Z',
  });
});

test('tasks by type with the age of the oldest, open dead letters, and writes that wait or failed', async () => {
  await admit(bench, 1);
  at(10);
  await admit(bench, 2);
  at(20);
  await addDeadLetter(bench, 3);
  const workerId = await registerWorker(bench.engine, bench.tenantId, {
    name: 'w',
    hostname: '',
    version: '',
    repos: [],
    taskTypes: ['analyze'],
    labels: {},
  });
  await claim(bench.engine, { tenantId: bench.tenantId, workerId, taskTypes: ['analyze'], repoIds: null });
  const writes = await sendable(bench.engine, 'sandbox', 100);
  const sending = await beginSending(bench.engine, bench.tenantId, writes[0]?.id ?? 0);
  if (!sending) throw new Error('nothing to send');
  await settle(bench.engine, sending, { status: 'refused', httpStatus: 422, message: 'no', kind: 'other' });
  at(70);
  const waiting = await database.db.selectFrom('projections').select('status').execute();
  const { byTaskType, ...totals } = (await call('GET', '/api/queue/depth')).json as never as {
    byTaskType: { taskType: string }[];
  };
  expect(byTaskType.find(({ taskType }) => taskType === 'analyze')).toEqual({
    taskType: 'analyze',
    pending: 2,
    claimed: 1,
    oldestPendingAgeMs: 60_000,
    ...noneAlone,
  });
  expect(totals).toEqual({
    pendingTaskCount: 2,
    claimedTaskCount: 1,
    dlqDepth: 1,
    vcsWriteQueueDepth: waiting.length,
    vcsWriteQueueFailed: 1,
    serverTimestamp: '2026-03-01T00:01:10.000Z',
  });
});

test('counts the tasks that no online worker can claim, until one is there', async () => {
  const analyze = async () => {
    const { byTaskType } = (await call('GET', '/api/queue/depth')).json as never as {
      byTaskType: { taskType: string }[];
    };
    return byTaskType.find(({ taskType }) => taskType === 'analyze');
  };
  at(20 + 121);
  await drainWorkers(true);
  expect(await analyze()).toMatchObject({ withoutWorker: 2, oldestWithoutWorkerAgeMs: 131_000 });
  await drainWorkers(false);
  expect(await analyze()).toMatchObject(noneAlone);
});
