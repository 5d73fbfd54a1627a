import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { claim, registerWorker } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { startCutProxy, testDatabase, until } from '@pipeline/testing';
import type { ConnectedHost } from '../../src/hosts/hosts.ts';
import { type Pipeline, readinessOf } from '../../src/process/pipeline.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { ConfigInForce } from '../../src/settings/config-in-force.ts';
import { pipelineOf } from '../support/pipeline-of.ts';
import { commentsOf, labelsOf, makeWorld, openIssue, type World } from '../support/sandbox-world.ts';
import { serveApp } from '../support/served-app.ts';

const database = testDatabase();
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

test('without a host nothing is polled or written, and the outbox is off', async () => {
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
