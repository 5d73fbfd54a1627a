import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ConfigReloadOutcome, DEPLOYMENT, type RELOADABLE_KEYS, type Settings } from '@pipeline/domain';
import { type Engine, recordReload } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import { auditEntries, enabledReposWithTenant, readSettings, reloadReports, writeSettings } from '@pipeline/store';
import { sql } from 'kysely';
import type { ConfigInForce } from '../../src/settings/config-in-force.ts';
import { SettingsSync } from '../../src/settings/settings-sync.ts';
import { engineOn, makeBench } from '../support/bench.ts';
import { authOf, type Call, configOf, OLGA, serveApp } from '../support/served-app.ts';
import { database } from './database.ts';

describe('a reload of the configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'monitor-reload-'));
  const cleanups: (() => Promise<unknown>)[] = [];
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(async () => {
    for (const cleanUp of cleanups.splice(0)) await cleanUp();
  });

  /** One for each monitor: they need not share a disk. */
  const path = (name: string) => join(folder, `${name}.yaml`);
  const write = (name: string, text: string) => writeFileSync(path(name), text);

  interface Monitor {
    config: ConfigInForce;
    sync: SettingsSync;
    engine: Engine;
    notifications: number;
    call: Call;
  }

  const authorization = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;

  /** A monitor with a file of its own: its routes over HTTP, its settings loop ticked by hand. */
  async function startMonitor(name: string, text: string): Promise<Monitor> {
    write(name, text);
    const config = await configOf(path(name));
    const engine: Engine = { ...engineOn(database.store), settings: () => config.settings };
    const monitor = { config, engine, notifications: 0 } as Monitor;
    const ringSettings = () => {
      monitor.notifications += 1;
    };
    monitor.sync = new SettingsSync({ engine, config, instance: `${name}:8090`, ringSettings, log: silentLogger });
    const place = { host: 'db.example.org', port: 5432, poolSize: 10 };
    const served = await serveApp({
      auth: authOf([OLGA]),
      config: {
        summary: () => ({
          config,
          database: place,
          connected: true,
          isSet: (variable) => variable === 'HOOK_SECRET',
          agents: [],
          uptime: 5,
        }),
        reports: () => reloadReports(database.store.db),
        repos: () => enabledReposWithTenant(database.store.db),
      },
    });
    cleanups.push(served.close);
    monitor.call = (method, route) => served.call(method, route, { headers: { authorization } });
    await monitor.sync.tick();
    return monitor;
  }

  const reload = ({ call }: Monitor) => call('POST', '/api/config/reload');
  const summary = async ({ call }: Monitor) => (await call('GET', '/api/config-summary')).json as Record<string, never>;
  const stored = async () => (await readSettings(database.store.db)) as { version: number; body: Settings };

  beforeEach(async () => {
    await database.db.deleteFrom('config_reloads').execute();
    await database.db.deleteFrom('alerts').execute();
  });

  describe('a reload', () => {
    const CHANGES: Record<(typeof RELOADABLE_KEYS)[number], string> = {
      selfHealing: 'selfHealing: {autoRestart: true}',
      checks: 'checks: {timeoutMinutes: 30}',
      pollIntervals: 'pollIntervals: {monitor: 7}',
      costLimits: 'costLimits: {dailyUsd: 12.5}',
      alertChannels: 'alertChannels: [{type: log}]',
      alerts: 'alerts: {queueAgeMinutes: 5}',
      retrieval: 'retrieval: {tokenBudget: 500}',
      sla: 'sla: {warnAfterMinutes: {planning: 9}}',
      tracks: 'tracks: {weight: 4}',
      retention: 'retention: {messagesDays: 7}',
      review: 'review: {dismissStale: false}',
      installations: 'installations: organisation',
    };

    test.each(Object.entries(CHANGES))('applies %s at once, here and in the store', async (key, line) => {
      const monitor = await startMonitor('one', '{}');
      const before = await stored();
      write('one', line);
      expect((await reload(monitor)).json).toEqual({ ok: true, appliedKeys: [key], deferredKeys: [] });
      const inForce = monitor.engine.settings();
      await monitor.sync.tick();
      const after = await stored();
      expect(after.version).toBe(before.version + 1);
      expect(after.body).toEqual(JSON.parse(JSON.stringify(inForce)));
      expect((after.body as never)[key]).not.toEqual((before.body as never)[key]);
      expect(monitor.notifications).toBeGreaterThan(0);
      await monitor.sync.tick();
      expect((await stored()).version).toBe(after.version);
    });

    test('reports keys that wait for a restart as long as they do, and does not apply them', async () => {
      await makeBench(database.store, 'acme/shop');
      const monitor = await startMonitor('one', 'repos: [{slug: acme/shop}]');
      write('one', 'repos: [{slug: acme/shop, poolSize: 2}]\nagents: {dev: {url: "http://127.0.0.1:1/"}}\nsla: {}');
      const answer = { ok: true, appliedKeys: [], deferredKeys: ['agents'] };
      expect((await reload(monitor)).json).toEqual({ ...answer, appliedKeys: ['repos'] });
      expect((await reload(monitor)).json).toEqual(answer);
      expect(monitor.config.lastReload).toMatchObject({ status: 'partial' });
      expect(await summary(monitor)).toMatchObject({ repos: [{ slug: 'acme/shop', poolSize: 2 }] });
      write('one', 'repos: [{slug: acme/shop, poolSize: 2}]');
      expect((await reload(monitor)).json).toEqual({ ...answer, deferredKeys: [] });
      expect(monitor.config.lastReload).toMatchObject({ status: 'unchanged' });
    });

    test.each([
      ['that does not parse', 'costLimits: {dailyUsd: 99', 'CONFIG_LOAD_FAILED', 400],
      ['that is gone', null, 'CONFIG_LOAD_FAILED', 400],
      ['that was emptied', '', 'CONFIG_VALIDATION_FAILED', 400],
      [
        'whose password variable is not set',
        'agents: {monitor: {auth: {username: olga, passwordEnv: NOT_SET}}}',
        'CONFIG_VALIDATION_FAILED',
        400,
      ],
      [
        'whose channel names a variable that is not set',
        'alertChannels: [{type: webhook, url: "https://x.example", secretEnv: NOT_SET}]',
        'CONFIG_VALIDATION_FAILED',
        400,
      ],
      [
        'with one bad key among good ones',
        'costLimits: {dailyUsd: 99}\nsla: {warnAfterMinutes: {planing: 1}}',
        'CONFIG_VALIDATION_FAILED',
        400,
      ],
    ] as const)(
      'a reload of a file %s changes nothing, is stored and is an alert until a good one',
      async (_name, text, code, status) => {
        const monitor = await startMonitor('one', 'costLimits: {dailyUsd: 5}');
        const before = await stored();
        if (text === null) rmSync(path('one'));
        else write('one', text);
        const answer = await reload(monitor);
        expect([answer.status, answer.json]).toMatchObject([status, { code, status }]);
        await monitor.sync.tick();
        expect(monitor.engine.settings().costLimits.dailyUsd).toBe(5);
        expect(await stored()).toEqual(before);
        const { configReload, agentConfigReload } = await summary(monitor);
        expect(configReload).toMatchObject({ status: 'failed', errorCode: code, trigger: 'api', appliedKeys: [] });
        expect(agentConfigReload).toEqual([{ agentName: 'monitor', instance: 'one:8090', outcome: configReload }]);
        const alerts = () =>
          database.db
            .selectFrom('alerts')
            .select(['detector', 'resolved_at'])
            .where('tenant_id', '=', DEPLOYMENT)
            .execute();
        expect(await alerts()).toEqual([{ detector: 'config_reload_failed', resolved_at: null }]);
        write('one', 'costLimits: {dailyUsd: 6}');
        expect((await reload(monitor)).json).toMatchObject({ appliedKeys: ['costLimits'] });
        await monitor.sync.tick();
        expect(await alerts()).toEqual([{ detector: 'config_reload_failed', resolved_at: expect.any(String) }]);
      },
    );

    test('a reload without a file is a conflict, and no outcome', async () => {
      const served = await serveApp();
      cleanups.push(served.close);
      const answer = await served.call('POST', '/api/config/reload');
      expect([answer.status, answer.json]).toMatchObject([409, { code: 'NO_CONFIG_FILE', status: 409 }]);
      expect((await served.call('GET', '/api/config-summary')).json).toMatchObject({ configReload: null });
    });

    test('needs credentials where they are configured, and no body', async () => {
      const served = await serveApp({ auth: authOf([OLGA]) });
      cleanups.push(served.close);
      expect((await served.call('POST', '/api/config/reload')).json).toMatchObject({ code: 'AUTH_REQUIRED' });
      expect((await served.call('GET', '/api/config-summary')).status).toBe(401);
    });

    test('names who asked in the audit, and what changed in the log of every enabled repo', async () => {
      const bench = await makeBench(database.store, 'acme/reported');
      const monitor = await startMonitor('one', '{}');
      write('one', 'sla: {warnAfterMinutes: {planning: 3}}\nconsistency: {orphans: true}');
      await reload(monitor);
      await reload(monitor);
      await monitor.sync.tick();
      const [again, first] = await auditEntries(database.store.db, 2);
      expect(first).toMatchObject({
        actor_type: 'operator',
        actor_id: 'olga',
        action: 'config-reload',
        subject: 'configuration of monitor one:8090',
        details: { status: 'partial', appliedKeys: ['sla'], deferredKeys: ['consistency'], trigger: 'api' },
      });
      expect(again).toMatchObject({ details: { appliedKeys: [], deferredKeys: ['consistency'] } });
      const events = database.db.selectFrom('pipeline_events').select(['payload', 'issue_number', 'agent']);
      expect(
        await events
          .where('event_type', '=', 'config_reloaded')
          .where('repo_id', '=', bench.repo.id)
          .orderBy('id')
          .execute(),
      ).toEqual([
        {
          payload: { appliedKeys: ['sla'], deferredKeys: ['consistency'], actorId: 'olga' },
          issue_number: null,
          agent: 'operator',
        },
        {
          payload: { appliedKeys: [], deferredKeys: ['consistency'], actorId: 'olga' },
          issue_number: null,
          agent: 'operator',
        },
      ]);
    });
  });

  describe('two monitors', () => {
    test('a reload of one is in force in the other, whatever its own file contains', async () => {
      const one = await startMonitor('one', 'costLimits: {dailyUsd: 1}');
      const two = await startMonitor('two', 'costLimits: {dailyUsd: 1}');
      write('one', 'costLimits: {dailyUsd: 2}');
      await reload(one);
      await one.sync.tick();
      await two.sync.tick();
      expect(two.engine.settings().costLimits.dailyUsd).toBe(2);
      expect((await summary(two)).costLimits).toEqual({ dailyUsd: 2, monthlyUsd: null, perIssueUsd: null });
      await two.sync.tick();
      await one.sync.tick();
      const outcomes = (await reloadReports(database.store.db)).map(({ instance, outcome }) => {
        return [instance, outcome.trigger, outcome.status, ...outcome.appliedKeys];
      });
      expect(outcomes).toEqual([
        ['one:8090', 'api', 'applied', 'costLimits'],
        ['two:8090', 'watch', 'applied', 'costLimits'],
      ]);
      expect(one.engine.settings()).toEqual(two.engine.settings());
    });

    test('a reload is not undone by what another monitor wrote before it', async () => {
      const one = await startMonitor('one', 'costLimits: {dailyUsd: 1}');
      const two = await startMonitor('two', 'costLimits: {dailyUsd: 1}');
      write('one', 'costLimits: {dailyUsd: 2}');
      write('two', 'costLimits: {dailyUsd: 3}');
      await reload(one);
      await one.sync.tick();
      await reload(two);
      two.config.follow(one.config.settings);
      expect(two.engine.settings().costLimits.dailyUsd).toBe(3);
      await two.sync.tick();
      await one.sync.tick();
      expect([one, two].map(({ engine }) => engine.settings().costLimits.dailyUsd)).toEqual([3, 3]);
    });

    test('a row that is not valid changes nothing', async () => {
      const one = await startMonitor('one', 'costLimits: {dailyUsd: 1}');
      await writeSettings(database.store.db, { leaseMs: -1 });
      await one.sync.tick();
      expect(one.engine.settings().costLimits.dailyUsd).toBe(1);
    });
  });

  describe('the summary', () => {
    test('shows what is in force, and neither a secret nor where one is', async () => {
      const monitor = await startMonitor(
        'one',
        `
repos: [{slug: acme/shop}, {slug: acme/api, branch: trunk, poolSize: 3, setupCommand: make}]
alertChannels:
  - {type: webhook, url: "https://hooks.example.org/T0/secret-path", secretEnv: HOOK_SECRET}
  - {type: slack, urlEnv: SLACK_URL}
  - {type: log}`,
      );
      for (const slug of ['acme/shop', 'Acme/API', 'acme/installed', 'acme/disabled']) {
        await makeBench(database.store, slug);
      }
      await sql`update repos set enabled = name in ('shop', 'API', 'installed')`.execute(database.db);
      const answer = await monitor.call('GET', '/api/config-summary');
      expect(answer.json).toEqual({
        configSource: path('one'),
        database: { host: 'db.example.org', port: 5432, migrationVersion: null, poolSize: 10, connected: true },
        repos: [
          { slug: 'Acme/API', branch: 'trunk', poolSize: 3, setupCommand: 'make' },
          { slug: 'acme/installed', branch: 'main', poolSize: null, setupCommand: null },
          { slug: 'acme/shop', branch: 'main', poolSize: null, setupCommand: null },
        ],
        selfHealing: {
          autoUnblockTransient: true,
          autoRestart: false,
          restartStrategy: 'pid',
          restartCooldownSec: 300,
          maxRestartAttempts: 3,
          maxAutoUnblocksPerIssue: 3,
        },
        pollIntervals: { sprintMaster: 30, monitor: 30, metricsRefreshMin: 5 },
        costLimits: { dailyUsd: null, monthlyUsd: null, perIssueUsd: null },
        alertChannels: [
          { type: 'webhook', configured: true },
          { type: 'slack', configured: false },
          { type: 'log', configured: true },
        ],
        agentHealth: [
          {
            name: 'monitor',
            status: 'healthy',
            uptime: 5,
            consecutiveFailures: 0,
            lastError: null,
            configReload: null,
          },
        ],
        configReload: null,
        agentConfigReload: [],
      });
      for (const secret of ['HOOK_SECRET', 'SLACK_URL', 'secret-path']) expect(answer.text).not.toContain(secret);
    });

    test('lists the repos of the file while the store is away', async () => {
      const config = await configOf(path('one'));
      const served = await serveApp({
        config: {
          summary: () => ({
            config,
            database: { host: null, port: 5432, poolSize: 1 },
            connected: true,
            isSet: () => false,
            agents: [],
            uptime: 1,
          }),
          reports: () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
          repos: async () => [],
        },
      });
      cleanups.push(served.close);
      const { json } = await served.call('GET', '/api/config-summary');
      expect((json as { repos: { slug: string }[] }).repos.map(({ slug }) => slug)).toEqual(['acme/shop', 'acme/api']);
    });

    test('answers the summary without a store', async () => {
      const served = await serveApp();
      cleanups.push(served.close);
      const answer = await served.call('GET', '/api/config-summary');
      expect([answer.status, answer.json]).toMatchObject([
        200,
        { configSource: 'default', database: { host: null, port: 5432, connected: false }, agentConfigReload: [] },
      ]);
    });
  });

  test('an older outcome never replaces a newer one', async () => {
    const monitor = await startMonitor('one', '{}');
    const at = (second: number): ConfigReloadOutcome => ({
      status: 'unchanged',
      appliedKeys: [],
      deferredKeys: [],
      error: null,
      errorCode: null,
      trigger: 'watch',
      at: `2026-03-01T00:00:0${second}.000Z`,
    });
    for (const second of [1, 3, 2]) {
      await recordReload(monitor.engine, { agentName: 'dev', instance: 'agent', outcome: at(second) }, null);
    }
    expect(await reloadReports(database.store.db)).toEqual([{ agentName: 'dev', instance: 'agent', outcome: at(3) }]);
  });

  afterAll(() => database.clear());
});
