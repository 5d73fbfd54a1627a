import { afterAll, describe, expect, test } from '@jest/globals';
import { STATES } from '@pipeline/domain';
import { actOnIssue, claim, putRepo, registerWorker } from '@pipeline/engine';
import { ensureTenant, inTransaction, upsertAlert } from '@pipeline/store';
import { sql } from 'kysely';
import { addDeadLetter } from '../support/bench.ts';
import { authOf, serveApp } from '../support/served-app.ts';
import { DEVELOPER, START, testDashboard } from './dashboard-world.ts';
import { database } from './database.ts';

describe('the dashboard', () => {
  const { env, at, iso, poll, read, polled, enter, spend } = testDashboard(database);

  describe('GET /dashboard', () => {
    test('the dashboard reports that it is before the first poll, and shows no part that has not been read', async () => {
      expect(await read()).toEqual({
        ...{ status: 'healthy', uptime: 42, alerts: [], costTotalUsd: 0, polledAt: null },
        agents: { monitor: expect.objectContaining({ agentName: 'monitor', reachable: true, costUsd: 0 }) },
        pipelineSummary: Object.fromEntries([...STATES, 'paused', 'blocked'].map((name) => [name, 0])),
      });
    });

    test('answers with the status unhealthy when there is no store', async () => {
      const bare = await serveApp();
      const answer = await bare.call('GET', '/dashboard');
      await bare.close();
      expect(answer).toMatchObject({ status: 200, json: { status: 'unhealthy', polledAt: null, alerts: [] } });
    });

    test('lists an agent for each task type that has run, so that all cost is shown with an agent', async () => {
      env.agents = [DEVELOPER];
      at(-25 * 60);
      await enter();
      await spend(2);
      at(0);
      await sql`
      insert into runs (tenant_id, task_id, work_id, repo_id, task_type, attempt, agent, worker_id, claim_token_hash,
        claimed_at, lease_expires_at)
      values (${env.bench.tenantId}, gen_random_uuid(), gen_random_uuid(), ${env.bench.repo.id}, 'review', 0, 'reviewer', 'w', 'hash',
        now(), now())`.execute(database.db);
      await sql`
      insert into task_counts (tenant_id, repo_id, grain, at, task_type, event_type, n)
      values (${env.bench.tenantId}, ${env.bench.repo.id}, 'month', '2026-03-01', 'review', 'task_completed', 1),
        (${env.bench.tenantId}, ${env.bench.repo.id}, 'month', '2026-03-01', 'merge', 'task_enqueued', 1)`.execute(
        database.db,
      );
      const worker = { hostname: '', version: '2', taskTypes: ['review' as const], labels: {}, repos: [] };
      await registerWorker(env.bench.engine, env.bench.tenantId, { ...worker, name: 'reviewing' });
      env.agents = [];
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
      env.statements.length = 0;
      await read();
      await read('?window=30d');
      expect(env.statements).toEqual([]);
    });

    test('while the store is away it shows what was known last, and that it is unhealthy', async () => {
      await enter();
      const before = await polled();
      env.connected = false;
      expect(await read()).toEqual({ ...before, status: 'unhealthy' });
    });

    test('counts issues by state, zero-filled, and the marks that cut across', async () => {
      await sql`delete from issue_counts`.execute(database.db);
      await sql`delete from issue_count_deltas`.execute(database.db);
      const paused = await enter();
      const done = await enter();
      await enter();
      await enter();
      await actOnIssue(env.bench.engine, { tenantId: env.bench.tenantId, issueId: paused }, 'pause', {
        type: 'operator',
        id: 'o',
      } as never);
      await actOnIssue(env.bench.engine, { tenantId: env.bench.tenantId, issueId: done }, 'cancel', {
        type: 'operator',
        id: 'o',
      } as never);
      const { pipelineSummary, metrics, polledAt } = await polled();
      expect(pipelineSummary).toMatchObject({ analyzing: 3, done: 1, planning: 0, paused: 1, blocked: 0 });
      expect(metrics['Acme/Shop']).toMatchObject({ openIssues: 2, inFlight: 3, blocked: 0, throughput: 1 });
      expect(polledAt).toBe(iso(0));
    });

    test('sums up costs by window, tenant and agent; a tenant near its limit is warned of', async () => {
      env.agents = [DEVELOPER];
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
              tenantId: env.bench.tenantId,
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

    test('shows what env.agents work on, which workers serve a repo, and what waits there', async () => {
      env.agents = [DEVELOPER];
      await enter();
      await enter();
      const { engine, tenantId } = env.bench;
      const worker = { hostname: '', version: '', taskTypes: ['analyze' as const], labels: {} };
      const workerId = await registerWorker(engine, tenantId, { ...worker, name: 'one', repos: ['acme/SHOP'] });
      await registerWorker(engine, tenantId, { ...worker, name: 'two', repos: ['acme/other'] });
      await claim(engine, { tenantId, workerId, taskTypes: ['analyze'], repoIds: null });
      at(5);
      const { agents: shown, workerPool, metrics } = await polled();
      expect(shown.analyzer).toMatchObject({ inFlightIssues: [`Acme/Shop#${env.number - 1}`] });
      expect(workerPool).toEqual([
        {
          ...{ repo: 'Acme/Shop', total: 1, idle: 0, busy: 1, draining: 0, offline: 0, utilizationPct: 100 },
          ...{ queueDepth: 1, oldestPendingAgeMs: 300_000, lastHeartbeat: iso(0) },
          degradedSince: expect.any(String),
          workers: [
            {
              ...{ id: workerId, status: 'busy', taskType: 'analyze', issueNumber: env.number - 1 },
              ...{ lastHeartbeat: iso(0), lastClaimAt: iso(0) },
            },
          ],
        },
      ]);
      expect(metrics['Acme/Shop']).toMatchObject({
        ...{ pendingTaskCount: 1, avgQueueWaitMs: 300_000, oldestPendingAgeMs: 300_000, projectedDrainMs: null },
      });
    });

    test('figures are null and counts zero when there are no samples', async () => {
      const { metrics } = await polled();
      expect(metrics['Acme/Shop']).toMatchObject({
        ...{ repo: 'Acme/Shop', computedAt: iso(0), avgQueueWaitMs: null, oldestPendingAgeMs: null },
        ...{ cycleTimeMinutes: null, reviewPassRatio: null, timeToFirstPrMs: null, avgReviewCycles: null },
        ...{ prRevertRatio: null, agentAttributionRatio: null, autonomousMergePct: null, pendingTaskCount: 0 },
      });
    });

    test('counts dead letters and host writes of each repo', async () => {
      env.number += 1;
      await addDeadLetter(env.bench, env.number);
      await sql`update projections set status = 'complete'`.execute(database.db);
      await sql`
      insert into projections (tenant_id, repo_id, issue_number, lane, action, status, max_attempts, client_type, idempotency_key)
      select ${env.bench.tenantId}, ${env.bench.repo.id}, 1, 'talk', '{"type":"closeIssue"}', s, 8, 'sandbox', 'dashboard-' || s
      from unnest(array['pending', 'failed', 'complete']) s`.execute(database.db);
      const { metrics } = await polled();
      expect(metrics['Acme/Shop']).toMatchObject({ dlqDepth: 1, vcsWriteQueueDepth: 2, vcsWriteQueueFailed: 1 });
    });

    test('repos of one name are distinguished by their tenant', async () => {
      const other = await ensureTenant(database.store.db, 'other');
      const repo = {
        slug: { owner: 'acme', name: 'shop' },
        vcsHost: 'sandbox' as const,
        cloneUrl: '',
        defaultBranch: 'main',
      };
      await putRepo(env.bench.engine, other, {
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
      expect((await env.call('GET', '/dashboard?window=1h')).json).toMatchObject({
        status: 400,
        code: 'INVALID_INPUT',
      });
    });
  });

  describe('status', () => {
    const raise = (severity: 'info' | 'warning' | 'critical', fingerprint: string = severity) =>
      inTransaction(database.store.db, (tx) =>
        upsertAlert(tx, env.bench.tenantId, {
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
      env.agents = [{ ...DEVELOPER, health: { ...DEVELOPER.health, status: 'unhealthy' } }];
      expect((await polled()).status).toBe('degraded');
      env.agents = [DEVELOPER];
      expect((await read()).status).toBe('healthy');
      env.fresh = false;
      expect((await read()).status).toBe('degraded');
    });
  });

  test('needs credentials where they are configured', async () => {
    const guarded = await serveApp({ auth: authOf([{ username: 'olga', password: 'pw' }]) });
    const answer = await guarded.call('GET', '/dashboard');
    await guarded.close();
    expect(answer.json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
  });

  afterAll(() => database.clear());
});
