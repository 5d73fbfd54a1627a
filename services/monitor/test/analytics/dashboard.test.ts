import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, STATES } from '@pipeline/domain';
import {
  actOnIssue,
  type Counts,
  claim,
  type Figures,
  fail,
  type Live,
  putRepo,
  readCounts,
  readFigures,
  readLive,
  registerWorker,
} from '@pipeline/engine';
import { ensureTenant, inTransaction, upsertAlert } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { Dashboard, type DashboardDeps } from '../../src/analytics/dashboard.ts';
import { PolledValue } from '../../src/polling/polled-value.ts';
import { addDeadLetter, admit, type Bench, makeBench } from '../support/bench.ts';
import { authOf, type Call, serveApp } from '../support/served-app.ts';
import { claimWork } from '../workers/agent-work.ts';

const database = testDatabase();
const START = Date.parse('2026-03-11T12:00:00.000Z');
const storeWatch = { isConnected: true } as never;
const now = () => database.clock.now ?? new Date();
const at = (minutes: number) => {
  database.clock.now = new Date(START + minutes * 60_000);
};
const iso = (minutes: number) => new Date(START + minutes * 60_000).toISOString();

let bench: Bench;
let call: Call;
let url: string;
let close: () => Promise<void>;
let polls: { counts: PolledValue<Counts>; live: PolledValue<Live>; figures: PolledValue<Figures> };
let number = 0;
let connected = true;
let fresh = true;
let agents: ReturnType<DashboardDeps['agents']> = [];
const statements: string[] = [];
const EMPTIED = ['tasks', 'dead_letters', 'alerts', 'cost_events', 'cost_sums', 'rollup_deltas', 'daily_spend', 'runs'];

const DEVELOPER = {
  ...{ agentName: 'analyzer', reachable: true, timestamp: START, responseTimeMs: 12, healthySince: START },
  health: {
    status: 'healthy' as const,
    uptime: 5,
    version: '1',
    lastError: null,
    consecutiveFailures: 0,
    currentTaskId: null,
  },
  ...{ restarts: 2, lastRestartAt: iso(-60), configReload: null },
};

beforeAll(async () => {
  at(0);
  bench = await makeBench(database.store, 'Acme/Shop');
});

beforeEach(async () => {
  at(0);
  [connected, fresh, agents] = [true, true, []];
  for (const table of EMPTIED) await sql`delete from ${sql.table(table)}`.execute(database.db);
  await sql`update workers set left_at = svc_now()`.execute(database.db);
  const store = database.open({ onStatement: (_pool, text) => statements.push(text) });
  const settings = { ...DEFAULT_SETTINGS, costLimits: { ...DEFAULT_SETTINGS.costLimits, dailyUsd: 10 } };
  const engine = { ...bench.engine, store, settings: () => settings };
  polls = {
    counts: new PolledValue(() => readCounts(engine), now),
    live: new PolledValue(() => readLive(engine), now),
    figures: new PolledValue(() => readFigures(engine), now),
  };
  const dashboard = new Dashboard({
    ...{ ...polls, now, agents: () => agents, uptime: () => 42.7 },
    ...{ isStoreConnected: () => connected, isFresh: () => fresh },
  });
  const served = await serveApp({ dashboard, pipeline: { engine, storeWatch } });
  ({ call, url } = served);
  close = async () => {
    await served.close();
    await store.close();
  };
});
afterEach(() => close());

const poll = async () => {
  for (const value of Object.values(polls)) await value.refresh();
};
interface Shown extends Record<string, unknown> {
  status: string;
  alerts: { severity: string }[];
  agents: Record<string, object>;
  metrics: Record<string, object>;
  tenants: { tenants: object[] };
  workerPool: { repo: string }[];
}
const read = async (query = '') => (await call('GET', `/dashboard${query}`)).json as never as Shown;
const polled = async (query = '') => {
  await poll();
  return read(query);
};

const enter = async (bare = bench): Promise<number> => {
  number += 1;
  return admit(bare, number);
};
/** Work on the newest issue that has cost something and failed. */
async function spend(costUsd: number, of = bench): Promise<void> {
  const work = await claimWork(of, `w${number}`);
  const tokens = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const call = { index: 0, model: 'large', provider: 'p', ...tokens, turns: 1, costUsd, stopReason: 'error' as const };
  const failure = { errorMessage: 'no', errorClass: 'transient' as const, invocations: [call] };
  await fail(of.engine, work, failure);
  await sql`delete from tasks`.execute(database.db);
}

describe('GET /dashboard', () => {
  test('before the first poll it says so, and shows no part that has not been read', async () => {
    expect(await read()).toEqual({
      ...{ status: 'healthy', uptime: 42, alerts: [], costTotalUsd: 0, polledAt: null },
      agents: { monitor: expect.objectContaining({ agentName: 'monitor', reachable: true, costUsd: 0 }) },
      pipelineSummary: Object.fromEntries([...STATES, 'paused', 'blocked'].map((name) => [name, 0])),
    });
  });

  test('without a store it is unhealthy, and there all the same', async () => {
    const bare = await serveApp();
    const answer = await bare.call('GET', '/dashboard');
    await bare.close();
    expect(answer).toMatchObject({ status: 200, json: { status: 'unhealthy', polledAt: null, alerts: [] } });
  });

  test('lists an agent for each task type that has run, so that all cost is shown with an agent', async () => {
    agents = [DEVELOPER];
    at(-25 * 60);
    await enter();
    await spend(2);
    at(0);
    await sql`
      insert into runs (tenant_id, task_id, work_id, repo_id, task_type, attempt, agent, worker_id, claim_token_hash,
        claimed_at, lease_expires_at)
      values (${bench.tenantId}, gen_random_uuid(), gen_random_uuid(), ${bench.repo.id}, 'review', 0, 'reviewer', 'w', 'hash',
        now(), now())`.execute(database.db);
    await sql`
      insert into task_counts (tenant_id, repo_id, grain, at, task_type, event_type, n)
      values (${bench.tenantId}, ${bench.repo.id}, 'month', '2026-03-01', 'review', 'task_completed', 1),
        (${bench.tenantId}, ${bench.repo.id}, 'month', '2026-03-01', 'merge', 'task_enqueued', 1)`.execute(database.db);
    const worker = { hostname: '', version: '2', taskTypes: ['review' as const], labels: {}, repos: [] };
    await registerWorker(bench.engine, bench.tenantId, { ...worker, name: 'reviewing' });
    agents = [];
    const { agents: shown, status } = await polled();
    expect(Object.keys(shown)).toEqual(['monitor', 'analyzer', 'reviewer']);
    expect(shown.reviewer).toMatchObject({
      ...{ agentName: 'reviewer', reachable: true, timestamp: START, responseTimeMs: 0 },
      health: { status: 'healthy', lastError: null },
    });
    expect(shown.analyzer).toMatchObject({
      reachable: false,
      health: { status: 'stopped', lastError: 'No worker that takes its tasks is online' },
    });
    expect(status).toBe('healthy');
  });

  test('costs the store nothing', async () => {
    await enter();
    await poll();
    statements.length = 0;
    await read();
    await read('?window=30d');
    expect(statements).toEqual([]);
  });

  test('while the store is away it shows what was known last, and that it is unhealthy', async () => {
    await enter();
    const before = await polled();
    connected = false;
    expect(await read()).toEqual({ ...before, status: 'unhealthy' });
  });

  test('counts issues by state, zero-filled, and the marks that cut across', async () => {
    await sql`delete from issue_counts`.execute(database.db);
    await sql`delete from issue_count_deltas`.execute(database.db);
    const paused = await enter();
    const done = await enter();
    await enter();
    await enter();
    await actOnIssue(bench.engine, { tenantId: bench.tenantId, issueId: paused }, 'pause', {
      type: 'operator',
      id: 'o',
    } as never);
    await actOnIssue(bench.engine, { tenantId: bench.tenantId, issueId: done }, 'cancel', {
      type: 'operator',
      id: 'o',
    } as never);
    const { pipelineSummary, metrics, polledAt } = await polled();
    expect(pipelineSummary).toMatchObject({ analyzing: 3, done: 1, planning: 0, paused: 1, blocked: 0 });
    expect(metrics['Acme/Shop']).toMatchObject({ openIssues: 2, inFlight: 3, blocked: 0, throughput: 1 });
    expect(polledAt).toBe(iso(0));
  });

  test('sums up costs by window, tenant and agent; a tenant near its limit is warned of', async () => {
    agents = [DEVELOPER];
    at(-25 * 60);
    await enter();
    await spend(2);
    at(-10 * 24 * 60);
    await enter();
    await spend(3);
    at(0);
    await enter();
    await spend(8.5);
    const { costTotalUsd, costByWindow, tenants, agents: shown, metrics } = await polled();
    expect(costTotalUsd).toBe(13.5);
    expect(costByWindow).toEqual({
      todayUsd: 8.5,
      last24hUsd: 8.5,
      last7dUsd: 10.5,
      last30dUsd: 13.5,
      lifetimeUsd: 13.5,
      ...{ todayUnreportedCosts: 0, last24hUnreportedCosts: 0, last7dUnreportedCosts: 0 },
      ...{ last30dUnreportedCosts: 0, lifetimeUnreportedCosts: 0 },
    });
    expect(tenants).toEqual({
      tenants: [
        {
          ...{
            tenantId: bench.tenantId,
            externalId: 'default',
            name: expect.any(String),
            dailyUsd: 10,
            monthlyUsd: null,
          },
          ...{ spentTodayUsd: 8.5, spentMonthUsd: 13.5, percentUsedDaily: 85, percentUsedMonthly: null },
          ...{ unreportedCostsToday: 0, unreportedCostsMonth: 0 },
          // Ten days and a half of 31 are over.
          ...{ projectedMonthUsd: Math.round((13.5 * 31 * 10_000) / 10.5) / 10_000, status: 'warning' },
          ...{ thresholdsPct: [80, 90, 100], lastThresholdPct: null, inFlightIssues: expect.any(Number) },
          resetAt: '2026-03-12T00:00:00.000Z',
        },
      ],
      ...{ totalSpentTodayUsd: 8.5, totalSpentMonthUsd: 13.5, generatedAt: iso(0) },
    });
    expect(shown.analyzer).toMatchObject({ costUsd: 8.5, tenantSpend: { default: 8.5 }, restarts: 2 });
    expect(metrics['Acme/Shop']).toMatchObject({ costTodayUsd: 8.5, costWindowUsd: 10.5, windowDays: 7 });
    expect((await read('?window=30d')).metrics['Acme/Shop']).toMatchObject({ costWindowUsd: 13.5, windowDays: 30 });
  });

  test('shows what agents work on, which workers serve a repo, and what waits there', async () => {
    agents = [DEVELOPER];
    await enter();
    await enter();
    const { engine, tenantId } = bench;
    const worker = { hostname: '', version: '', taskTypes: ['analyze' as const], labels: {} };
    const workerId = await registerWorker(engine, tenantId, { ...worker, name: 'one', repos: ['acme/SHOP'] });
    await registerWorker(engine, tenantId, { ...worker, name: 'two', repos: ['acme/other'] });
    await claim(engine, { tenantId, workerId, taskTypes: ['analyze'], repoIds: null });
    at(5);
    const { agents: shown, workerPool, metrics } = await polled();
    expect(shown.analyzer).toMatchObject({ inFlightIssues: [`Acme/Shop#${number - 1}`] });
    expect(workerPool).toEqual([
      {
        ...{ repo: 'Acme/Shop', total: 1, idle: 0, busy: 1, draining: 0, offline: 0, utilizationPct: 100 },
        ...{ queueDepth: 1, oldestPendingAgeMs: 300_000, lastHeartbeat: iso(0) },
        degradedSince: expect.any(String),
        workers: [
          {
            ...{ id: workerId, status: 'busy', taskType: 'analyze', issueNumber: number - 1 },
            ...{ lastHeartbeat: iso(0), lastClaimAt: iso(0) },
          },
        ],
      },
    ]);
    expect(metrics['Acme/Shop']).toMatchObject({
      ...{ pendingTaskCount: 1, avgQueueWaitMs: 300_000, oldestPendingAgeMs: 300_000, projectedDrainMs: null },
    });
  });

  test('without anything to take them of, figures are null and counts zero', async () => {
    const { metrics } = await polled();
    expect(metrics['Acme/Shop']).toMatchObject({
      ...{ repo: 'Acme/Shop', computedAt: iso(0), avgQueueWaitMs: null, oldestPendingAgeMs: null },
      ...{ cycleTimeMinutes: null, reviewPassRatio: null, timeToFirstPrMs: null, avgReviewCycles: null },
      ...{ prRevertRatio: null, agentAttributionRatio: null, autonomousMergePct: null, pendingTaskCount: 0 },
    });
  });

  test('counts dead letters and host writes of each repo', async () => {
    number += 1;
    await addDeadLetter(bench, number);
    await sql`update projections set status = 'complete'`.execute(database.db);
    await sql`
      insert into projections (tenant_id, repo_id, issue_number, lane, action, status, max_attempts, client_type, idempotency_key)
      select ${bench.tenantId}, ${bench.repo.id}, 1, 'talk', '{"type":"closeIssue"}', s, 8, 'sandbox', 'dashboard-' || s
      from unnest(array['pending', 'failed', 'complete']) s`.execute(database.db);
    const { metrics } = await polled();
    expect(metrics['Acme/Shop']).toMatchObject({ dlqDepth: 1, vcsWriteQueueDepth: 2, vcsWriteQueueFailed: 1 });
  });

  test('repos of one name are distinguished by their tenant', async () => {
    const other = await ensureTenant(database.store.tenant, 'other');
    const repo = {
      slug: { owner: 'acme', name: 'shop' },
      vcsHost: 'sandbox' as const,
      cloneUrl: '',
      defaultBranch: 'main',
    };
    await putRepo(bench.engine, other, {
      ...repo,
      setupCommand: null,
      poolSize: null,
      installationId: null,
      enabled: true,
    });
    const { metrics, workerPool } = await polled();
    await database.db.updateTable('repos').set({ enabled: false }).where('tenant_id', '=', other).execute();
    expect(Object.keys(metrics)).toEqual(['Acme/Shop@default', 'acme/shop@other']);
    expect(workerPool.map((pool) => pool.repo)).toEqual(['Acme/Shop@default', 'acme/shop@other']);
  });

  test('a bad window is refused', async () => {
    expect((await call('GET', '/dashboard?window=1h')).json).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
  });
});

describe('status', () => {
  const raise = (severity: 'info' | 'warning' | 'critical', fingerprint: string = severity) =>
    inTransaction(database.store.tenant, (tx) =>
      upsertAlert(tx, bench.tenantId, {
        severity,
        detector: 'queue_age',
        fingerprint,
        message: `${severity} of the queue`,
      }),
    );

  test('open alerts are listed, the worst first, and make it degraded or unhealthy', async () => {
    await raise('info');
    expect((await polled()).status).toBe('healthy');
    at(1);
    await raise('warning');
    expect((await polled()).status).toBe('degraded');
    at(2);
    await raise('critical');
    const { status, alerts } = await polled();
    expect(status).toBe('unhealthy');
    expect(alerts.map(({ severity }) => severity)).toEqual(['critical', 'warning', 'info']);
    expect(alerts[0]).toEqual({
      ...{ id: expect.any(String), severity: 'critical', detector: 'queue_age', message: 'critical of the queue' },
      ...{ fingerprint: 'critical', repo: null, issueNumber: null, workerId: null, value: null, threshold: null },
      ...{ firstSeenAt: iso(2), lastSeenAt: iso(2), count: 1, resolved: false, resolvedAt: null },
    });
  });

  test('an agent that is not well, and polls that are late, make it degraded', async () => {
    agents = [{ ...DEVELOPER, health: { ...DEVELOPER.health, status: 'unhealthy' } }];
    expect((await polled()).status).toBe('degraded');
    agents = [DEVELOPER];
    expect((await read()).status).toBe('healthy');
    fresh = false;
    expect((await read()).status).toBe('degraded');
  });
});

test('needs credentials where they are configured', async () => {
  const guarded = await serveApp({ auth: authOf([{ username: 'olga', password: 'pw' }]) });
  const answer = await guarded.call('GET', '/dashboard');
  await guarded.close();
  expect(answer.json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
});

describe('the response', () => {
  const get = (headers: Record<string, string>, query = '') => call('GET', `/dashboard${query}`, { headers });

  test('returns 304 without a body while only the time has passed', async () => {
    await poll();
    const first = await get({});
    const etag = first.headers.get('etag') ?? '';
    expect(first.status).toBe(200);
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    at(1);
    const second = await get({ 'if-none-match': `"other", ${etag}` });
    expect([second.status, second.text, second.headers.get('etag')]).toEqual([304, '', etag]);
    expect(second.headers.get('cache-control')).toBe('private, no-cache');
  });

  const CHANGES = {
    'the status': () => {
      connected = false;
    },
    'an agent': () => {
      agents = [{ ...DEVELOPER, reachable: false }];
    },
    'a count': async () => {
      await enter();
      await poll();
    },
  };

  test.each(Object.entries(CHANGES))('returns 200 with another ETag when %s has changed', async (_what, change) => {
    await poll();
    const etag = (await get({})).headers.get('etag') ?? '';
    await change();
    const changed = await get({ 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  test('returns 200 with another ETag when the window or the number of timelines differs', async () => {
    await enter();
    await poll();
    const tags = await Promise.all(
      ['', '?window=30d', '?timelines=0'].map(async (query) => (await get({}, query)).headers.get('etag')),
    );
    expect(new Set(tags).size).toBe(3);
  });

  test.each([
    ['br', 'gzip, deflate, br'],
    ['gzip', 'gzip'],
    ['gzip', 'br;q=0, gzip'],
    [null, 'identity'],
  ])('is encoded as %s when the caller accepts %s', async (encoding, accepted) => {
    await enter();
    await poll();
    const answer = await fetch(`${url}/dashboard`, { headers: { 'accept-encoding': accepted } });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(answer.headers.get('vary')).toBe('accept-encoding');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual(await read());
  });

  test('is compressed once for callers that come at the same time', async () => {
    await enter();
    await poll();
    const lengths = await Promise.all(
      Array.from({ length: 8 }, async () => (await fetch(`${url}/dashboard`)).headers.get('content-length')),
    );
    expect(new Set(lengths).size).toBe(1);
    expect(Number(lengths[0])).toBeLessThan(JSON.stringify(await read()).length / 2);
  });

  test('is as long for HEAD as for GET, and empty', async () => {
    await poll();
    const [plain, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) =>
        fetch(`${url}/dashboard`, { method, headers: { 'accept-encoding': 'identity' } }),
      ),
    );
    expect(head?.headers.get('content-length')).toBe(plain?.headers.get('content-length'));
    expect(await head?.text()).toBe('');
  });
});
