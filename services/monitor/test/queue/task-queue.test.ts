import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readTaskQueue } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { PolledValue } from '../../src/polling/polled-value.ts';
import type { TaskQueueDeps } from '../../src/routes/queue/task-queue.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
const START = Date.parse('2026-03-01T00:00:00Z');
const at = (seconds: number) => {
  database.clock.now = new Date(START + seconds * 1_000);
};

let bench: Bench;
let taskQueue: TaskQueueDeps['taskQueue'];
let call: Call;
let close: () => Promise<void>;

beforeAll(async () => {
  at(0);
  bench = await makeBench(database.store, 'Acme/Shop');
});
beforeEach(async () => {
  await close?.();
  taskQueue = new PolledValue(
    () => readTaskQueue(database.store),
    () => database.clock.now ?? new Date(),
  );
  ({ call, close } = await serveConnected({ engine: bench.engine, taskQueue }));
});
afterAll(() => close());

const read = async (path = '/api/task-queue') => (await call('GET', path)).json as never as Record<string, unknown>;

/** Runs of the analyzer that took so many seconds each, completed just now. */
const ran = (seconds: readonly number[]) =>
  sql`
    insert into runs (tenant_id, task_id, work_id, repo_id, task_type, attempt, agent, worker_id, claim_token_hash,
      status, claimed_at, finished_at, lease_expires_at, outcome)
    select ${bench.tenantId}, gen_random_uuid(), gen_random_uuid(), ${bench.repo.id}, 'analyze', 0, 'analyzer', 'w',
      gen_random_uuid()::text, 'finished', ${at0}::timestamptz - make_interval(secs => s),
      ${at0}::timestamptz, ${at0}::timestamptz, 'analyzed'
    from unnest(${seconds}::float8[]) s`.execute(database.db);
const at0 = new Date(START).toISOString();

describe('queue', () => {
  test('before the first poll it is empty and says that it was never read', async () => {
    const nothing = {
      tasks: [],
      summary: { totalPending: 0, totalClaimed: 0, avgWaitMs: 0, oldestPendingAgeMs: null },
      truncated: false,
      polledAt: null,
    };
    expect(await read()).toEqual(nothing);
    const named = { ...nothing, pendingTaskCount: 0, projectedDrainMs: null };
    expect(await read('/api/pipeline/task-queue')).toEqual(named);
    expect(await read('/pipeline/task-queue')).toEqual(named);
  });

  test('an empty queue: waits are 0, ages and drains unknown', async () => {
    await taskQueue.refresh();
    expect(await read('/api/pipeline/task-queue')).toEqual({
      tasks: [],
      summary: { totalPending: 0, totalClaimed: 0, avgWaitMs: 0, oldestPendingAgeMs: null },
      truncated: false,
      polledAt: '2026-03-01T00:00:00.000Z',
      pendingTaskCount: 0,
      projectedDrainMs: null,
    });
  });

  test('tasks by priority with their waits; a claimed one waits no longer; with 4 samples nothing is estimated', async () => {
    await admit(bench, 1);
    at(10);
    await admit(bench, 2);
    at(20);
    await admit(bench, 3);
    await sql`
      update tasks set status = 'claimed', claimed_by = 'w1', claimed_at = ${new Date(START + 20_000).toISOString()}
      where issue_number = 2`.execute(database.db);
    await sql`update tasks set priority = 20 where issue_number = 3`.execute(database.db);
    await sql`
      insert into tasks (tenant_id, id, work_id, repo_id, task_type, priority, turn, max_attempts, created_at)
      values (${bench.tenantId}, gen_random_uuid(), gen_random_uuid(), ${bench.repo.id}, 'code-map-scan', 90, 1, 3,
        ${new Date(START + 70_000).toISOString()})`.execute(database.db);
    await ran([60, 120, 180, 240]);
    at(70);
    await taskQueue.refresh();
    const common = {
      id: expect.any(String),
      taskType: 'analyze',
      repoOwner: 'Acme',
      repoName: 'Shop',
      status: 'pending',
      priority: 50,
      claimedBy: null,
      claimedAt: null,
      estimatedDurationMs: null,
    };
    const tasks = [
      { ...common, issueNumber: 3, priority: 20, createdAt: '2026-03-01T00:00:20.000Z', waitTimeMs: 50_000 },
      { ...common, issueNumber: 1, createdAt: '2026-03-01T00:00:00.000Z', waitTimeMs: 70_000 },
      {
        ...common,
        issueNumber: 2,
        status: 'claimed',
        claimedBy: 'w1',
        createdAt: '2026-03-01T00:00:10.000Z',
        claimedAt: '2026-03-01T00:00:20.000Z',
        waitTimeMs: 10_000,
      },
      {
        ...common,
        issueNumber: 0,
        taskType: 'code-map-scan',
        priority: 90,
        createdAt: '2026-03-01T00:01:10.000Z',
        waitTimeMs: 0,
      },
    ];
    expect(await read()).toEqual({
      tasks,
      summary: { totalPending: 3, totalClaimed: 1, avgWaitMs: 32_500, oldestPendingAgeMs: 70_000 },
      truncated: false,
      polledAt: '2026-03-01T00:01:10.000Z',
    });
    expect(await read('/api/pipeline/task-queue')).toMatchObject({ pendingTaskCount: 3, projectedDrainMs: null });
  });

  test('from 5 samples on: the median of the agent in the repo, and what all pending ones come to', async () => {
    await ran([300]);
    await taskQueue.refresh();
    const { tasks, projectedDrainMs } = (await read('/pipeline/task-queue')) as never as {
      tasks: { taskType: string; estimatedDurationMs: number | null }[];
      projectedDrainMs: number;
    };
    expect(tasks.map(({ taskType, estimatedDurationMs }) => [taskType, estimatedDurationMs])).toEqual([
      ['analyze', 180_000],
      ['analyze', 180_000],
      ['analyze', 180_000],
      ['code-map-scan', null],
    ]);
    expect(projectedDrainMs).toBe(360_000);
  });

  test('more tasks than are listed: the figures are of all', async () => {
    await sql`
      insert into tasks (tenant_id, id, work_id, repo_id, issue_number, task_type, priority, turn, max_attempts)
      select ${bench.tenantId}, gen_random_uuid(), gen_random_uuid(), ${bench.repo.id}, n, 'analyze', 50, n, 3
      from generate_series(1, 2000) n`.execute(database.db);
    await taskQueue.refresh();
    const body = await read('/api/pipeline/task-queue');
    expect(body).toMatchObject({ truncated: true, pendingTaskCount: 2_003, projectedDrainMs: 2_002 * 180_000 });
    expect(body.tasks).toHaveLength(2_000);
  });

  test.each(['/api/task-queue', '/api/pipeline/task-queue', '/pipeline/task-queue'])(
    '%s asks for credentials, and for a store',
    async (path) => {
      expect((await call('GET', path, { headers: {} })).json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
      const bare = await serveApp();
      const { json } = await bare.call('GET', path);
      await bare.close();
      expect(json).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
    },
  );
});
