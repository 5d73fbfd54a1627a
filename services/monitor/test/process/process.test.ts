import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { testDatabase, testProcesses, until } from '@pipeline/testing';
import { databaseUrl, execute } from '@pipeline/testing/template';
import { callerOf } from '../support/served-app.ts';

const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'monitor-process-'));

afterAll(() => rmSync(folder, { recursive: true }));

const configFile = (text: string) => {
  const path = join(folder, 'pipeline.yaml');
  writeFileSync(path, text);
  return path;
};

const start = testProcesses(join(import.meta.dirname, '../../src/main.ts'));
const run = (env: Record<string, string> = {}) => {
  const monitor = start(env);
  return { ...monitor, listening: async () => callerOf(await monitor.urlOf('listening')) };
};

describe('a start', () => {
  test('a start without any setting serves, answers 503 where a store is needed, and ends well on SIGTERM', async () => {
    const monitor = run();
    const call = await monitor.listening();
    expect((await call('GET', '/health')).json).toEqual({ status: 'healthy', uptime: expect.any(Number) });
    expect((await call('GET', '/ready')).json).toEqual({
      status: 'ready',
      store: 'not-configured',
      poll: 'off',
      outbox: 'off',
      stream: 'off',
      loops: [],
    });
    expect((await call('GET', '/api/openapi.json')).json).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) });
    expect((await call('GET', '/api/dead-letters')).json).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect((await call('GET', '/')).status).toBe(200);
    monitor.child.kill('SIGTERM');
    expect(await monitor.exited).toBe(0);
  });

  test.each([{ HOST: 'localhost' }, { HOST: '0.0.0.0', ALLOW_UNAUTHENTICATED: 'true' }])(
    'a start without logins serves when its settings are %j',
    async (settings) => {
      const monitor = run(settings);
      await until('it listens', () => monitor.output.out.includes('"msg":"listening"'));
      monitor.child.kill('SIGTERM');
      expect(await monitor.exited).toBe(0);
    },
  );

  test('a start without a store lists the configured agents with their health', async () => {
    const path = configFile('agents: {dev: {url: "http://127.0.0.1:1/health"}, rev: {url: "http://127.0.0.1:1/"}}');
    const monitor = run({ PIPELINE_CONFIG: path });
    const call = await monitor.listening();
    const health = async () =>
      ((await call('GET', '/api/config-summary')).json as { agentHealth: { name: string }[] }).agentHealth;
    expect((await health()).map(({ name }) => name)).toEqual(['monitor', 'dev', 'rev']);
    const { json } = await call('GET', '/dashboard');
    expect(Object.keys((json as { agents: object }).agents)).toEqual(['monitor', 'dev', 'rev']);
    await until('the first check', async () =>
      (await health()).every((agent) => !JSON.stringify(agent).includes('Not checked yet')),
    );
    monitor.child.kill('SIGTERM');
    expect(await monitor.exited).toBe(0);
  });

  test('a start with store and password serves callers that have it', async () => {
    const path = configFile('agents: {monitor: {auth: {username: olga, passwordEnv: OLGAS_WORD}}}');
    const monitor = run({ DATABASE_URL: database.url, PIPELINE_CONFIG: path, OLGAS_WORD: 'pw' });
    const call = await monitor.listening();
    expect((await call('GET', '/api/dead-letters')).status).toBe(401);
    const headers = { authorization: `Basic ${Buffer.from('olga:pw').toString('base64')}` };
    await until('the first poll', async () => {
      const { json } = await call('GET', '/api/dead-letters', { headers });
      return (json as { page: { total: number | null } }).page.total === 0;
    });
    expect(monitor.output.out).not.toContain('"pw"');
    monitor.child.kill('SIGTERM');
    expect(await monitor.exited).toBe(0);
  });

  test('goes on where the store cannot be reached, and reports that', async () => {
    const monitor = run({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    const call = await monitor.listening();
    expect((await call('GET', '/health')).status).toBe(200);
    expect((await call('GET', '/ready')).json).toMatchObject({ status: 'not-ready', store: 'unreachable' });
    expect((await call('GET', '/api/dead-letters')).json).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    monitor.child.kill('SIGTERM');
    expect(await monitor.exited).toBe(0);
    expect(monitor.output.out).toContain('"msg":"the store is unreachable: ');
  });
});

test('SIGHUP reads the configuration again, and a second monitor on the same store follows', async () => {
  const path = configFile('costLimits: {dailyUsd: 1}');
  const other = join(folder, 'other.yaml');
  writeFileSync(other, 'costLimits: {dailyUsd: 1}');
  const [one, two] = [path, other].map((file) => run({ DATABASE_URL: database.url, PIPELINE_CONFIG: file }));
  const monitors = [one, two].flatMap((monitor) => monitor ?? []);
  const calls = await Promise.all(monitors.map((monitor) => monitor.listening()));
  const limits = () =>
    Promise.all(
      calls.map(async (call) => ((await call('GET', '/api/config-summary')).json as Summary).costLimits.dailyUsd),
    );
  interface Summary {
    costLimits: { dailyUsd: number };
    agentConfigReload: { outcome: { trigger: string } }[];
  }
  await until('both are connected', async () =>
    (await Promise.all(calls.map((call) => call('GET', '/api/dead-letters')))).every(({ status }) => status === 200),
  );
  writeFileSync(path, 'costLimits: {dailyUsd: 2');
  one?.child.kill('SIGHUP');
  await until('the bad file is reported', () => one?.output.out.includes('CONFIG_LOAD_FAILED') === true);
  expect(await limits()).toEqual([1, 1]);
  writeFileSync(path, 'costLimits: {dailyUsd: 2}');
  one?.child.kill('SIGHUP');
  await until('both go by the new file', async () => (await limits()).join() === '2,2');
  for (const monitor of monitors) monitor.child.kill('SIGTERM');
  expect(await Promise.all(monitors.map(({ exited }) => exited))).toEqual([0, 0]);
});

describe('a start that cannot be ends with 78 and one line for each problem', () => {
  const refused = async (env: Record<string, string>) => {
    const monitor = run(env);
    expect(await monitor.exited).toBe(78);
    return monitor.output.err.trimEnd().split('\n');
  };

  test('reports a problem in the configuration file', async () => {
    const path = configFile('repos: [{slug: x}]\npollIntervals: {monitor: soon}\n');
    expect(await refused({ PIPELINE_CONFIG: path })).toEqual([
      `PIPELINE_CONFIG ${path}: repos[0].slug: must be owner/name`,
      expect.stringContaining(`PIPELINE_CONFIG ${path}: pollIntervals.monitor: `),
    ]);
    expect(await refused({ PIPELINE_CONFIG: configFile('a: [') })).toEqual([expect.stringContaining('line 1, at "a"')]);
    expect(await refused({ PIPELINE_CONFIG: configFile('') })).toEqual([expect.stringContaining('config: is empty')]);
    const none = join(folder, 'none.yaml');
    expect(await refused({ PIPELINE_CONFIG: none })).toEqual([expect.stringContaining(`${none}: cannot be read`)]);
  });

  test('reports a problem in the environment', async () => {
    const path = configFile('agents: {monitor: {auth: {username: olga, passwordEnv: OLGAS_WORD}}}');
    expect(await refused({ PIPELINE_CONFIG: path })).toEqual([
      expect.stringContaining(`PIPELINE_CONFIG ${path}: OLGAS_WORD: must be set`),
    ]);
    expect(await refused({ SANDBOX_URL: 'http://127.0.0.1:1' })).toEqual([expect.stringMatching(/^SANDBOX_TOKEN: /)]);
    expect(await refused({ GITHUB_APP_ID: '5' })).toEqual([
      expect.stringMatching(/^GITHUB_APP_PRIVATE_KEY: must be set/),
    ]);
    expect(await refused({ GITHUB_APP_ID: '5', GITHUB_APP_PRIVATE_KEY: 'x' })).toEqual([
      'monitor: GITHUB_APP_PRIVATE_KEY: must be the PEM of an RSA private key',
    ]);
    expect(await refused({ DATABASE_URL: 'mysql://x', PORT: 'http' })).toEqual([
      'monitor: DATABASE_URL: must be a postgres:// URL',
      expect.stringContaining('monitor: PORT: must be a whole number'),
    ]);
  });

  test.each(['0.0.0.0', '::', 'example.invalid'])(
    'refuses to listen on %s when no login is configured',
    async (HOST) => {
      expect(await refused({ HOST })).toEqual([
        expect.stringMatching(
          /^HOST: .* configure agents\.monitor\.auth with a password, or set ALLOW_UNAUTHENTICATED=true/,
        ),
      ]);
    },
  );

  test('reports a problem in the address of the store', async () => {
    const address = new URL(database.adminUrl);
    address.pathname = '/pipeline_no_such_database';
    expect(await refused({ DATABASE_URL: address.href })).toEqual([
      'DATABASE_URL: database "pipeline_no_such_database" does not exist',
    ]);
  });

  test('reports a problem in the schema, with the command that corrects it', async () => {
    const empty = 'pipeline_without_schema';
    const server = databaseUrl(database.adminUrl, 'postgres');
    await execute(server, `create database ${empty}`);
    const lines = await refused({ DATABASE_URL: databaseUrl(database.adminUrl, empty) });
    await execute(server, `drop database ${empty} with (force)`);
    expect(lines).toEqual([expect.stringContaining('npm run migrate')]);
  });
});
