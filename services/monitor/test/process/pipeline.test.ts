import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { claim, registerWorker, runDetectors } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { startCutProxy, testDatabase, until } from '@pipeline/testing';
import { sql } from 'kysely';
import type { ConnectedHost } from '../../src/hosts/hosts.ts';
import { type Pipeline, readinessOf } from '../../src/process/pipeline.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { ConfigInForce } from '../../src/settings/config-in-force.ts';
import { engineOn, makeBench } from '../support/bench.ts';
import { pipelineOf } from '../support/pipeline-of.ts';
import { commentsOf, labelsOf, makeWorld, openIssue, type World } from '../support/sandbox-world.ts';
import { serveApp, serveConnected } from '../support/served-app.ts';

const database = testDatabase();

describe('the pipeline of a monitor', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  });

  async function worldOf(slug: string): Promise<World> {
    const world = await makeWorld([slug]);
    cleanups.push(world.stop);
    return world;
  }

  async function pipelineOn(
    url: string,
    hosts: readonly ConnectedHost[],
    repos: string[] = [],
    metrics = createMetrics(),
  ): Promise<Pipeline> {
    const loaded = await loadConfig(undefined, {});
    const entries = repos.map((slug) => ({
      slug,
      branch: 'main',
      poolSize: null,
      setupCommand: null,
      checks: 'none' as const,
      mergeMethod: 'squash' as const,
      mergeTrain: 'off' as const,
      maxRounds: 3,
      compare: null,
      tenant: 'default',
    }));
    const pollIntervals = { ...loaded.config.pollIntervals, sprintMaster: 1 };
    const config = new ConfigInForce({
      loaded: { ...loaded, config: { ...loaded.config, repos: entries, pollIntervals } },
      path: undefined,
      variables: {},
      log: silentLogger,
      now: () => new Date(),
    });
    const pipeline = await pipelineOf(url, { hosts, config, metrics });
    cleanups.push(pipeline.stop);
    return pipeline;
  }

  /** Shown on the host as the store has it: one label of its state, one comment. */
  const isShown = async (world: World, slug: string, number: number) =>
    (await labelsOf(world, slug, number)).join() === 'svc:analyzing' &&
    (await commentsOf(world, slug, number)).length === 1;

  test('a configured repo is entered, its issue is let in and shown on the host', async () => {
    const slug = 'acme/shop';
    const world = await worldOf(slug);
    const number = await openIssue(world, slug);
    const pipeline = await pipelineOn(database.url, [world.host], [slug]);
    pipeline.start();
    await until('the issue is shown on the host', () => isShown(world, slug, number));
    await until('all loops are fresh', () => {
      const { poll, outbox } = pipeline.health();
      return poll === 'ok' && outbox === 'ok';
    });
    await until('its move is in the event stream', async () => {
      const events = await database.db.selectFrom('stream_events').select('event_type').execute();
      return events.some(({ event_type }) => event_type === 'state-transition');
    });
  });

  test('stopping leaves no timer armed and no connection open', async () => {
    const world = await worldOf('acme/shop');
    const script = join(import.meta.dirname, 'fixtures/start-and-stop.ts');
    const options = ['--disable-warning=ExperimentalWarning', script, database.url, world.sandbox.url];
    const { stdout } = await promisify(execFile)(process.execPath, options, { timeout: 25_000 });
    expect(stdout).toBe('stopped');
  });

  test('a store that goes away and comes back: 503 and 200, loops rest and go on, without a restart', async () => {
    const slug = 'acme/meanwhile';
    const world = await worldOf(slug);
    const proxy = await startCutProxy(database.url);
    cleanups.push(proxy.close);
    const metrics = createMetrics();
    const pipeline = await pipelineOn(proxy.url, [world.host], [slug], metrics);
    const connected = async () => (await metrics.registry.metrics()).match(/^svc_store_connected (.)$/m)?.[1];
    const { call, close } = await serveApp({ pipeline, readiness: () => readinessOf(pipeline) });
    cleanups.push(close);
    const listing = async () => (await call('GET', '/api/dead-letters')).status;
    pipeline.start();
    await until('the store is connected', async () => (await listing()) === 200);
    await until('ready', async () => (await call('GET', '/ready')).status === 200);
    expect(await connected()).toBe('1');

    proxy.cut();
    await until('the store is missed', async () => (await listing()) === 503);
    expect(await connected()).toBe('0');
    expect((await call('GET', '/ready')).json).toEqual({
      status: 'not-ready',
      store: 'unreachable',
      poll: 'stale',
      outbox: 'stale',
      stream: 'stale',
      loops: [],
    });
    expect((await call('GET', '/health')).json).toMatchObject({ status: 'healthy' });
    const number = await openIssue(world, slug);

    proxy.restore();
    await until('the store is back', async () => (await listing()) === 200);
    await until('what happened meanwhile is applied', () => isShown(world, slug, number));
  });

  test('polls and writes nothing without a host, and the outbox is off', async () => {
    const pipeline = await pipelineOn(database.url, []);
    pipeline.start();
    await until('the store is connected', () => pipeline.health().poll === 'ok');
    expect(pipeline.health()).toMatchObject({ poll: 'ok', outbox: 'off' });
  });

  test('a track that an operator makes has its issue on the host by itself, and a worker gets its prompt', async () => {
    const slug = 'acme/tracked';
    const world = await worldOf(slug);
    const pipeline = await pipelineOn(database.url, [world.host], [slug]);
    const { call, close } = await serveApp({ pipeline });
    cleanups.push(close);
    pipeline.start();
    const post = (path: string, body: unknown) => call('POST', `/api/tracks${path}`, { body });
    await until('the repo is entered', async () => (await post('', { repo: slug, name: 'tests' })).status === 200);
    await post(`/${slug}/tests/prompts`, { seed_title: 'Test it', instructions: 'Be thorough.' });
    await post(`/${slug}/tests/prompts/1/activate`, {});
    const linked = () => database.db.selectFrom('si_issues').selectAll().executeTakeFirst();
    await until('the issue is made', async () => (await linked())?.issue_number === 1);
    await until('the issue is shown on the host', () => isShown(world, slug, 1));
    const { tenant_id: tenantId = 0, repo_id = 0 } = (await linked()) ?? {};
    const { engine } = pipeline;
    const worker = { name: 'w', hostname: '', version: '1', repos: [], taskTypes: ['analyze' as const], labels: {} };
    const workerId = await registerWorker(engine, tenantId, worker);
    const task = await claim(engine, { tenantId, workerId, taskTypes: ['analyze'], repoIds: [repo_id] });
    expect(task).toMatchObject({ issueNumber: 1, promptVersion: 1, payload: { instructions: 'Be thorough.' } });
  });

  afterAll(() => database.clear());
});

describe('problems of loops', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  });
  /** A monitor whose clock and loops the test drives, with one loop that does as the test says. */
  async function monitorWith(tick: () => Promise<unknown>, everyMs = 1_000) {
    let time = Date.parse('2026-03-01T00:00:00Z');
    const now = () => new Date(time);
    database.clock.now = now();
    const metrics = createMetrics();
    const options = { now, metrics, instance: 'host:1', clock: () => database.clock.now };
    const pipeline = await pipelineOf(database.url, options);
    pipeline.loops.add('example', everyMs, tick);
    cleanups.push(() => pipeline.stop());
    const { call, close } = await serveApp({ pipeline, readiness: () => readinessOf(pipeline) });
    cleanups.push(close);
    await pipeline.storeWatch.check();
    const engine = engineOn(database.store);
    return {
      pipeline,
      run: (loop: string) => pipeline.loops.tick(loop).catch(() => undefined),
      ready: async () => {
        const { status, json } = await call('GET', '/ready');
        return { status, loops: (json as { loops: unknown }).loops };
      },
      pass: (ms: number) => {
        time += ms;
        database.clock.now = now();
      },
      metric: async (problem: string) =>
        (await metrics.registry.metrics()).match(
          new RegExp(`^svc_loop_problem\\{loop="example",problem="${problem}"\\} (.)$`, 'm'),
        )?.[1],
      alerts: async (settings = DEFAULT_SETTINGS) => {
        await pipeline.loops.tick('loop-watch');
        const readings = { driftByRepo: null, limitedMinutes: new Map() };
        expect(await runDetectors({ ...engine, settings: () => settings }, readings, { refresh: false })).toEqual([]);
        const rows = database.db.selectFrom('alerts').select(['fingerprint', 'message', 'severity', 'resolved_at']);
        return (await rows.where('detector', '=', 'loop_failing').execute()).map(({ resolved_at, ...alert }) => ({
          ...alert,
          resolved: resolved_at !== null,
        }));
      },
    };
  }

  test('names a loop that fails three runs in a row in /ready, the metrics and an alert, until it works again', async () => {
    let works = false;
    const { run, ready, metric, alerts, pass } = await monitorWith(async () => {
      if (!works) throw new Error('bigint out of range');
    });
    await run('stream');
    await run('example');
    await run('example');
    expect(await ready()).toEqual({ status: 200, loops: [] });
    expect([await metric('failing'), await metric('late')]).toEqual(['0', '0']);
    expect(await alerts()).toEqual([]);
    await run('example');
    expect(await ready()).toEqual({ status: 503, loops: [{ name: 'example', problem: 'failing' }] });
    expect([await metric('failing'), await metric('late')]).toEqual(['1', '0']);
    const alert = {
      fingerprint: 'loop_failing:example@monitor host:1',
      message: 'background loop example of monitor host:1 failed 3 times in a row: Error: bigint out of range',
      severity: 'critical',
    };
    expect(await alerts()).toEqual([{ ...alert, resolved: false }]);

    works = true;
    pass(15_000);
    await run('example');
    expect(await ready()).toEqual({ status: 200, loops: [] });
    expect(await metric('failing')).toBe('0');
    expect(await alerts()).toEqual([{ ...alert, resolved: true }]);
  });

  test('names a loop that finishes no run as late, and the alert of a process that ended is resolved', async () => {
    let release = () => {};
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { pipeline, run, ready, metric, alerts, pass } = await monitorWith(() => hanging);
    pipeline.start();
    while (pipeline.health().stream !== 'ok') await database.store.ping();
    pass(62_000);
    await run('stream');
    const about = async () => (await ready()).loops;
    expect(await about()).not.toContainEqual({ name: 'example', problem: 'late' });
    pass(2_000);
    expect(await ready()).toMatchObject({ status: 503 });
    expect(await about()).toContainEqual({ name: 'example', problem: 'late' });
    expect(await metric('late')).toBe('1');
    const fingerprint = 'loop_failing:example@monitor host:1';
    expect(await alerts()).toContainEqual(expect.objectContaining({ fingerprint, resolved: false }));
    release();
    await database.db.updateTable('loop_problems').set({ seen_at: '2026-01-01T00:00:00Z' }).execute();
    await pipeline.stop();
    const engine = engineOn(database.store);
    await runDetectors(engine, { driftByRepo: null, limitedMinutes: new Map() }, { refresh: false });
    const open = database.db.selectFrom('alerts').select('fingerprint').where('resolved_at', 'is', null);
    expect(await open.execute()).not.toContainEqual({ fingerprint });
  });

  test('the monitor is not ready before the event stream runs', async () => {
    const { run, ready } = await monitorWith(async () => undefined);
    expect(await ready()).toEqual({ status: 503, loops: [] });
    await run('stream');
    expect(await ready()).toEqual({ status: 200, loops: [] });
  });

  afterAll(() => database.clear());
});

describe('overload', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  });

  test('refuses requests with Retry-After while Postgres is too slow and the pool is used up, and serves at once afterwards', async () => {
    const { engine } = await makeBench(database.store, 'Acme/Shop');
    const store = database.open({ poolSize: 2, statementTimeoutMs: 300, connectTimeoutMs: 600 });
    cleanups.push(() => store.close());
    const { call, close } = await serveConnected({ engine: { ...engine, store } });
    cleanups.push(close);
    const pause = () => call('POST', '/api/issues/Acme/Shop/1/pause');
    const db = database.open({ idleInTransactionMs: 60_000 });
    cleanups.push(() => db.close());
    await db.db.transaction().execute(async (tx) => {
      await sql`lock table repos in access exclusive mode`.execute(tx);
      const answers = await Promise.all(Array.from({ length: 20 }, pause));
      expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
        Array(20).fill([503, '2']),
      );
    });
    expect((await pause()).status).toBe(404);
  });

  afterAll(() => database.clear());
});
