import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createMetrics } from '@pipeline/runtime';
import { startCutProxy, testProcesses, until } from '@pipeline/testing';
import { databaseUrl, execute } from '@pipeline/testing/template';
import { sql } from 'kysely';
import { answerOf, labelIssue, makeTenant, register, testHosted, WORK } from '../support/hosted.ts';

const hosting = testHosted();

describe('the process', () => {
  const { database } = hosting;
  /** Key and certificate of a server that only this file starts. */
  const PEM = readFileSync(join(import.meta.dirname, '../support/localhost.pem'));
  const run = testProcesses(join(import.meta.dirname, '../../src/main.ts'));

  test('the process serves, and on SIGTERM answers those who wait and ends well', async () => {
    const tenant = await makeTenant(hosting.api);
    const workerId = await register(hosting.api, tenant.token);
    const service = run({ DATABASE_URL: database.url, METRICS_PORT: '0', GITHUB_WEBHOOK_SECRET: 's' });
    const url = await service.urlOf('listening');
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    const document = (await (await fetch(`${url}/api/openapi.json`)).json()) as { openapi: string };
    expect(document.openapi).toMatch(/^3\.1/);
    const waiting = fetch(`${url}/api/worker/claim`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tenant.token}` },
      body: JSON.stringify({ workerId, taskTypes: WORK, waitMs: 30_000 }),
    });
    const metrics = await service.urlOf('metrics');
    await until('it waits', async () =>
      (await (await fetch(metrics)).text()).includes('svc_loop_runs_total{loop="claim-waiters",outcome="ok"}'),
    );
    const begun = performance.now();
    service.child.kill('SIGTERM');
    expect((await waiting).status).toBe(204);
    expect(await service.exited).toBe(0);
    // Far below the time that the claim would wait.
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(service.lines().at(-1)?.msg).toBe('stopped');
    expect(service.output.err).toBe('');
  });

  test('it refuses to start on an empty database, and names the command to run', async () => {
    const empty = `${new URL(database.adminUrl).pathname.slice(1)}_empty`;
    await execute(database.adminUrl, `create database ${empty}`);
    const service = run({ DATABASE_URL: databaseUrl(database.adminUrl, empty) });
    expect(await service.exited).toBe(78);
    expect(service.output.err).toContain('npm run migrate');
    await execute(database.adminUrl, `drop database ${empty} with (force)`);
  });

  test('it refuses a database that is not there, naming the variable', async () => {
    const service = run({ DATABASE_URL: databaseUrl(database.adminUrl, 'no_such_database') });
    expect(await service.exited).toBe(78);
    expect(service.output.err).toMatch(/^DATABASE_URL: .*no_such_database/);
  });

  test('it names every invalid variable, one per line', async () => {
    const service = run({ PORT: '99999', LOG_LEVEL: 'loud', PUBLIC_URL: 'ftp://x' });
    expect(await service.exited).toBe(78);
    const names = service.output.err.split('\n').map((line) => line.split(':')[1]?.trim());
    expect(names.filter(Boolean).sort()).toEqual(['DATABASE_URL', 'LOG_LEVEL', 'PORT', 'PUBLIC_URL']);
  });

  test('it starts without a store, reports that, and refuses requests until there is one', async () => {
    const service = run({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    const url = await service.urlOf('listening');
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const ready = await fetch(`${url}/ready`);
    expect([ready.status, ((await ready.json()) as { store: string }).store]).toEqual([503, 'unreachable']);
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });

  test('it refuses to be reached by https without cookie keys, and keys that are too short', async () => {
    const env = { DATABASE_URL: database.url, PUBLIC_URL: 'https://pipeline.example.org' };
    for (const keys of [{}, { OAUTH_COOKIE_KEYS: 'short' }, { OAUTH_COOKIE_KEYS: `${'k'.repeat(32)},` }]) {
      const service = run({ ...env, ...keys });
      expect(await service.exited).toBe(78);
      expect(service.output.err).toMatch(/OAUTH_COOKIE_KEYS: must be .*openssl rand -hex 32/);
    }
    const service = run({ ...env, OAUTH_COOKIE_KEYS: `${'k'.repeat(32)}, ${'o'.repeat(32)}` });
    const url = await service.urlOf('listening');
    const metadata = (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as {
      issuer: string;
    };
    expect(metadata.issuer).toBe('https://pipeline.example.org');
    // The library prints its own warnings on standard error.
    const form = { method: 'POST', body: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'dcr_none' }) };
    expect((await fetch(`${url}/oauth/token`, form)).status).toBe(401);
    expect(service.output.err).toBe('');
  });

  test.each([
    ['http://pipeline.example.org', 'https://'],
    ['https://pipeline.example.org/api', 'without a path'],
    ['http://localhost.evil.example', 'https://'],
  ])('it refuses the public address %s', async (address, why) => {
    const service = run({ DATABASE_URL: database.url, PUBLIC_URL: address });
    expect(await service.exited).toBe(78);
    expect(service.output.err).toMatch(new RegExp(`PUBLIC_URL: must .*${why}`));
  });

  test.each([
    [{ OIDC_ISSUER: 'https://login.example.org' }, 'OIDC_CLIENT_ID: must be set, because OIDC_ISSUER is set'],
    [{ GITHUB_LOGIN_CLIENT_SECRET: 's' }, 'GITHUB_LOGIN_CLIENT_ID: must be set'],
    [{ OIDC_ISSUER: 'http://login.example.org' }, 'OIDC_ISSUER: must be https://'],
    [{ GITHUB_LOGIN_URL: 'http://localhost.evil.example' }, 'GITHUB_LOGIN_URL: must be https://'],
  ])('it refuses to start when the variables of a provider are %j', async (env, message) => {
    const service = run({ DATABASE_URL: database.url, ...env });
    expect(await service.exited).toBe(78);
    expect(service.output.err).toContain(message);
  });

  test('it offers a login by GitHub when the secret is in a file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'secret-')), 'secret');
    writeFileSync(file, 'the secret\n');
    const service = run({
      DATABASE_URL: database.url,
      GITHUB_LOGIN_CLIENT_ID: 'Iv1.x',
      GITHUB_LOGIN_CLIENT_SECRET_FILE: file,
      GITHUB_LOGIN_URL: 'https://github.example.org/',
    });
    const url = await service.urlOf('listening');
    const start = await fetch(`${url}/account/login/github/start`, { redirect: 'manual' });
    const location = start.headers.get('location') ?? '';
    expect(location).toMatch(/^https:\/\/github\.example\.org\/login\/oauth\/authorize\?/);
    expect(new URL(location).searchParams.get('redirect_uri')).toMatch(/\/account\/login\/github\/callback$/);
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });

  test('it fetches no metadata document from an address inside, however it is spelled', async () => {
    let hits = 0;
    const inside = createServer({ key: PEM, cert: PEM }, (_request, response) => {
      hits += 1;
      response.end('{}');
    });
    inside.listen(0, '127.0.0.1');
    await once(inside, 'listening');
    const { port } = inside.address() as AddressInfo;
    // Without this it would be the certificate that is refused.
    const service = run({ DATABASE_URL: database.url, NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    const url = await service.urlOf('listening');
    for (const host of ['localhost', '127.0.0.1', '[::ffff:127.0.0.1]']) {
      const query = new URLSearchParams({ client_id: `https://${host}:${port}/client.json`, response_type: 'code' });
      const answer = await fetch(`${url}/oauth/authorize?${query}`, { redirect: 'manual' });
      expect([host, answer.status, hits]).toEqual([host, 400, 0]);
    }
    inside.close();
  });
});

describe('a replica', () => {
  test('exports a replica that refuses connections as unused, and answers reads from the primary', async () => {
    const metrics = createMetrics();
    const nobody = 'postgres://u:p@127.0.0.1:1/nothing';
    const exported = async () => /^svc_replica_used (\S+)$/m.exec(await metrics.registry.metrics())?.[1];
    const store = hosting.open({ readUrl: nobody });
    await hosting.start({ store, metrics });
    expect(await exported()).toBe('1');
    expect((await sql`select 1 as one`.execute(store.reads)).rows).toEqual([{ one: 1 }]);
    expect(await exported()).toBe('0');
  });
});

describe('an outage of the store', () => {
  const { database } = hosting;
  const ways: { close(): Promise<void> }[] = [];
  afterAll(() => Promise.all(ways.map((way) => way.close())));

  test('while the store is gone requests are refused, the process lives, and all goes on when it is back', async () => {
    const way = await startCutProxy(database.url);
    ways.push(way);
    const store = hosting.open({ databaseUrl: way.url, clock: undefined, onConnectionError: () => undefined });
    const api = await hosting.start({ store, listenUrl: way.url });
    const get = async (path: string) => answerOf(await api.fetch(`${api.url}${path}`));
    const tenant = await makeTenant(api);
    const workerId = await register(api, tenant.token);
    const claim = (waitMs: number) => api.post('/api/worker/claim', { workerId, taskTypes: WORK, waitMs }, tenant);
    expect((await get('/ready')).body).toEqual({
      status: 'ready',
      store: 'connected',
      poll: 'ok',
      outbox: 'off',
      stream: 'off',
      loops: [],
    });
    const waiting = claim(30_000);
    await until('it waits', () => api.context.waiters.size === 1);

    way.cut();
    // Nobody has looked yet: the first requests find out.
    const known = await claim(0);
    expect([known.status, known.body.code]).toEqual([503, 'STORE_UNAVAILABLE']);
    const unknown = await api.post('/api/worker/claim', {}, { token: `wrk_at_${'b'.repeat(43)}` });
    expect([unknown.status, unknown.body.code]).toEqual([503, 'STORE_UNAVAILABLE']);
    // Those that wait learn it from their slow poll.
    expect((await waiting).body.code).toBe('STORE_UNAVAILABLE');
    const ready = await get('/ready');
    expect([ready.status, ready.body.store]).toEqual([503, 'unreachable']);
    expect((await claim(30_000)).status).toBe(503);
    expect((await get('/health')).status).toBe(200);

    way.restore();
    expect((await get('/ready')).status).toBe(200);
    const again = claim(30_000);
    await until('it waits', () => api.context.waiters.size === 1);
    await labelIssue(api, tenant.repo, 1);
    expect((await again).body.task.issueNumber).toBe(1);
  });

  test('refuses requests with Retry-After while Postgres is too slow and the pool is used up, and serves at once afterwards', async () => {
    const store = hosting.open({ poolSize: 2, statementTimeoutMs: 300, connectTimeoutMs: 600 });
    const api = await hosting.start({ store });
    const tenant = await makeTenant(api);
    const workerId = await register(api, tenant.token);
    const claim = () =>
      api.fetch(`${api.url}/api/worker/claim`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ workerId, taskTypes: WORK, waitMs: 0 }),
      });
    const db = hosting.open({ databaseUrl: database.adminUrl, idleInTransactionMs: 60_000 });
    await db.db.transaction().execute(async (tx) => {
      await sql`lock table worker_tokens, tasks in access exclusive mode`.execute(tx);
      const answers = await Promise.all(Array.from({ length: 20 }, claim));
      expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
        Array(20).fill([503, '2']),
      );
    });
    expect((await claim()).status).toBe(204);
  });

  test('a schema with a breaking change of a newer release is reported as outdated', async () => {
    const api = await hosting.start();
    const tenant = await makeTenant(api);
    const row = { name: '9999-later!breaking', timestamp: new Date().toISOString() };
    await database.db
      .insertInto('schema_migrations' as never)
      .values(row as never)
      .execute();
    const { status, body } = await answerOf(await api.fetch(`${api.url}/ready`));
    expect([status, body.store]).toEqual([503, 'outdated']);
    const refused = await api.post('/api/worker/register', { name: 'w', taskTypes: WORK }, tenant);
    expect(refused.status).toBe(503);
  });
});
