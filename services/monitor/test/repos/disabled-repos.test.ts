import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readBlockedIssues, readLive, readTaskQueue } from '@pipeline/engine';
import { openDeadLetters } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { PolledValue } from '../../src/polling/polled-value.ts';
import { addDeadLetter, admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
const now = () => new Date('2026-05-06T07:08:09.000Z');

let bench: Bench;
let call: Call;
let close: () => Promise<void>;
const blocked = new PolledValue(() => readBlockedIssues(database.store), now);
const taskQueue = new PolledValue(() => readTaskQueue(database.store), now);

beforeAll(async () => {
  bench = await makeBench(database.store, 'Acme/Shop');
  await admit(bench, 1);
  await admit(bench, 2);
  await sql`update issues set state = 'failure-blocked', is_blocked = true where issue_number = 1`.execute(database.db);
  await addDeadLetter(bench, 2);
  ({ call, close } = await serveConnected({ engine: bench.engine, blocked, taskQueue }));
});
afterAll(() => close());

const get = async (path: string) => (await call('GET', path)).json as never as Record<string, unknown>;
const setEnabled = (enabled: boolean) => sql`update repos set enabled = ${enabled}`.execute(database.db);

/** Reads what the lists and figures contain of the issues of the repo. */
async function shown() {
  await blocked.refresh();
  await taskQueue.refresh();
  const { issues, total } = await get('/api/blocked-issues');
  const { tasks, summary } = await get('/api/task-queue');
  const depth = await get('/api/queue/depth');
  const { work, inFlight, writes, deadLetters } = await readLive(bench.engine);
  return {
    blocked: [(issues as unknown[]).length, total],
    tasks: [(tasks as unknown[]).length, (summary as { totalPending: number }).totalPending],
    depth: [depth.pendingTaskCount, depth.dlqDepth, Number(depth.vcsWriteQueueDepth) > 0],
    deadLetters: (await openDeadLetters(database.store.fleet, { limit: 10, offset: 0 })).length,
    live: [work.length > 0, inFlight.length, writes.length > 0, deadLetters.length > 0],
  };
}

test('lists and figures leave the issues of a repo out while it is disabled', async () => {
  const enabled = await shown();
  expect(enabled).toEqual({
    blocked: [1, 1],
    tasks: [2, 2],
    depth: [2, 1, true],
    deadLetters: 1,
    live: [true, 0, true, true],
  });
  await setEnabled(false);
  expect(await shown()).toEqual({
    blocked: [0, 0],
    tasks: [0, 0],
    depth: [0, 0, false],
    deadLetters: 0,
    live: [false, 0, false, false],
  });
  await setEnabled(true);
  expect(await shown()).toEqual(enabled);
});
