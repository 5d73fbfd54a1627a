import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AGENT_OF, TASK_TYPES, type TaskType } from '@pipeline/domain';
import {
  actOnIssue,
  beginSending,
  claim,
  fail,
  readTaskQueue,
  reclaimExpired,
  registerWorker,
  releaseDue,
  report,
  sendable,
  settle,
  start,
} from '@pipeline/engine';
import { storeNow } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { PolledValue } from '../../src/polling/polled-value.ts';
import { createTotals, FreshClaims } from '../../src/prometheus/totals.ts';
import type { TaskQueueDeps } from '../../src/routes/queue/task-queue.ts';
import { addDeadLetter, admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';
import { Shop } from '../support/shop.ts';

const database = testDatabase();

const register = ({ engine, tenantId }: Pick<Bench, 'engine' | 'tenantId'>, taskTypes: TaskType[]): Promise<string> =>
  registerWorker(engine, tenantId, { name: 'w1', hostname: '', version: '1', repos: [], taskTypes, labels: {} });

async function claimAs(workerId: string, { engine, tenantId }: Pick<Bench, 'engine' | 'tenantId'>, type: TaskType) {
  const task = await claim(engine, { tenantId, workerId, taskTypes: [type], repoIds: null });
  if (!task) throw new Error('there is nothing to claim');
  return { tenantId, taskId: task.id, claimToken: task.claimToken };
}

describe('the queue of a repository', () => {
  const bench = new Shop(database);
  const { call } = bench;
  const at = (seconds: number) => {
    database.clock.now = new Date(Date.parse('2026-03-01T00:00:00Z') + seconds * 1_000);
  };

  const depth = async () =>
    (await call('GET', '/api/queue/depth')).json as never as { byTaskType: { taskType: string }[] };
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
    await claimAs(await register(bench, ['analyze']), bench, 'analyze');
    const writes = await sendable(bench.engine, 'sandbox', 100);
    const sending = await beginSending(bench.engine, bench.tenantId, writes[0]?.id ?? 0);
    if (!sending) throw new Error('nothing to send');
    await settle(bench.engine, sending, { status: 'refused', httpStatus: 422, message: 'no', kind: 'other' });
    at(70);
    const waiting = await database.db.selectFrom('projections').select('status').execute();
    const { byTaskType, ...totals } = await depth();
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
      const { byTaskType } = await depth();
      return byTaskType.find(({ taskType }) => taskType === 'analyze');
    };
    at(20 + 121);
    await drainWorkers(true);
    expect(await analyze()).toMatchObject({ withoutWorker: 2, oldestWithoutWorkerAgeMs: 131_000 });
    await drainWorkers(false);
    expect(await analyze()).toMatchObject(noneAlone);
  });

  afterAll(() => database.clear());
});

describe('waits of the queue', () => {
  const MINUTE = 60;
  const OLGA = { type: 'operator', id: 'olga', agent: null } as const;

  let bench: Bench;
  let workerId: string;
  let claims: FreshClaims;
  let start0 = Date.parse('2026-03-01T00:00:00Z');
  let issue = 0;

  const at = (seconds: number): void => {
    database.clock.now = new Date(start0 + seconds * 1_000);
  };
  const look = async () => (await claims.look(await storeNow(database.store.db))).toSorted((a, b) => a - b);

  const take = () => claimAs(workerId, bench, 'analyze');

  /** The agent ends with a question, so that nothing follows. */
  async function finish(ref: Awaited<ReturnType<typeof take>>): Promise<void> {
    await start(bench.engine, ref);
    await report(bench.engine, ref, {
      outcome: 'needs-clarification',
      result: { question: 'Which?' },
      artefacts: [],
      findings: [],
      intelligence: [],
      invocations: [],
    });
  }

  beforeEach(async () => {
    start0 += 24 * 3_600_000;
    at(0);
    bench = await makeBench(database.store, 'acme/shop');
    workerId = await register(bench, ['analyze']);
    claims = new FreshClaims(database.store, [...new Set(Object.values(AGENT_OF))]);
    issue += 1;
  });

  describe('how long a task waited', () => {
    test('counts a wait once, also for work that ended before the first read', async () => {
      await admit(bench, issue);
      expect(await look()).toEqual([]);
      at(7);
      await finish(await take());
      at(15);
      expect(await look()).toEqual([7]);
      at(20);
      expect(await look()).toEqual([]);
      at(500);
      expect(await look()).toEqual([]);
    });

    test('counts a claim that was seen late, as by a transaction that committed after the look', async () => {
      await admit(bench, issue);
      at(100);
      await look();
      at(95);
      await finish(await take());
      at(110);
      expect(await look()).toEqual([95]);
      at(115);
      expect(await look()).toEqual([]);
    });

    test('does not count what was claimed before this process looked for the first time', async () => {
      await admit(bench, issue);
      at(5);
      await finish(await take());
      at(10);
      expect([await look(), await look()]).toEqual([[], []]);
    });

    test('counts from the end of a pause', async () => {
      const issueId = await admit(bench, issue);
      await look();
      const key = { tenantId: bench.tenantId, issueId };
      at(10 * MINUTE);
      await actOnIssue(bench.engine, key, 'pause', OLGA);
      at(20 * MINUTE);
      await actOnIssue(bench.engine, key, 'resume', OLGA);
      at(20 * MINUTE + 3);
      await finish(await take());
      expect(await look()).toEqual([3]);
    });

    test('counts from the end of the backoff after a failure', async () => {
      await admit(bench, issue);
      await look();
      const failure = { errorMessage: 'no', errorClass: 'transient' as const, invocations: [] };
      const ref = await take();
      await start(bench.engine, ref);
      await fail(bench.engine, ref, failure);
      at(60 * MINUTE);
      expect(await releaseDue(bench.engine)).toBe(1);
      at(60 * MINUTE + 4);
      await finish(await take());
      expect(await look()).toEqual([0, 4]);
    });

    test('counts from when a lost claim was taken back, and not again by a retry of what waits already', async () => {
      const issueId = await admit(bench, issue);
      await look();
      at(2);
      await take();
      at(30 * MINUTE);
      expect(await reclaimExpired(bench.engine)).toBe(1);
      at(31 * MINUTE);
      await actOnIssue(bench.engine, { tenantId: bench.tenantId, issueId }, 'retry', OLGA);
      at(32 * MINUTE);
      await finish(await take());
      expect(await look()).toEqual([2, 2 * MINUTE]);
    });
  });

  test('the histogram counts every claim that was made while it was watched', async () => {
    const registry = new Registry();
    const totals = createTotals(registry, database.store);
    await totals.refresh();
    for (let n = 1; n <= 5; n += 1) {
      await admit(bench, 1_000 * issue + n);
      at(n * 10);
      await finish(await take());
      at(n * 10 + 5);
      await totals.refresh();
    }
    const text = await registry.metrics();
    expect(text).toContain('svc_task_queue_wait_seconds_count 5');
    expect(text).toMatch(/svc_task_queue_wait_seconds_sum 30\n/);
  });

  afterAll(() => database.clear());
});

describe('the task queue', () => {
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
    test('an empty queue has waits of 0, unknown ages and drains, and a time once it was read', async () => {
      const nothing = {
        tasks: [],
        summary: { totalPending: 0, totalClaimed: 0, avgWaitMs: 0, oldestPendingAgeMs: null },
        truncated: false,
        polledAt: null,
      };
      expect(await read()).toEqual(nothing);
      const named = { ...nothing, pendingTaskCount: 0, projectedDrainMs: null };
      expect(await read('/api/pipeline/task-queue')).toEqual(named);
      await taskQueue.refresh();
      expect(await read('/pipeline/task-queue')).toEqual({ ...named, polledAt: '2026-03-01T00:00:00.000Z' });
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

    test('estimates the wait from 5 samples on: the median of the agent in the repo, and the sum of all pending ones', async () => {
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

  afterAll(() => database.clear());
});
