import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { borrowDatabase, returnDatabase } from '../src/databases/borrow.ts';
import { startPoolServer } from '../src/databases/pool-server.ts';
import { startTestServer, type TestServer } from '../src/databases/postgres-server.ts';
import { databaseUrl, ensureTemplate, execute } from '../src/databases/template.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({});
});
afterAll(() => server.stop());

test('a given server is used and never stopped', async () => {
  const given = await startTestServer({ TEST_DATABASE_URL: server.url });
  expect(given).toMatchObject({ choice: 'TEST_DATABASE_URL', url: server.url });
  await given.stop();
  await execute(server.url, 'select 1');
});

test('the template is made once per schema version, also when two runs want it at the same time', async () => {
  const [one, two] = await Promise.all([ensureTemplate(server.url), ensureTemplate(server.url)]);
  expect(one).toBe(two);
  expect(await ensureTemplate(server.url)).toBe(one);
  await execute(server.url, `create database clone template ${one}`);
  await execute(databaseUrl(server.url, 'clone'), 'select from pipeline.issues', 'select pipeline.svc_now()');
});

describe('the pool server', () => {
  test('starts nothing until a file asks, and lends each a database of its own', async () => {
    const idle = await startPoolServer({ TEST_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/nothing' });
    await idle.close();
    const pool = await startPoolServer({ TEST_DATABASE_URL: server.url });
    const [one, two] = await Promise.all([borrowDatabase(pool.socket), borrowDatabase(pool.socket)]);
    expect(one.name).not.toBe(two.name);
    await execute(one.url, 'select from pipeline.issues', 'create table mine ()');
    await expect(execute(two.url, 'select from mine')).rejects.toThrow('does not exist');
    const unused = { leaked: [], findings: [] };
    expect(await returnDatabase(pool.socket, { name: one.name, statements: [] })).toEqual(unused);
    expect(await returnDatabase(pool.socket, { name: two.name, statements: [] })).toEqual(unused);
    await pool.close();
    for (const { url } of [one, two]) await expect(execute(url, 'select 1')).rejects.toThrow('does not exist');
  });

  test('reports connections left open and statements that break the rules, each time', async () => {
    const pool = await startPoolServer({ TEST_DATABASE_URL: server.url });
    const statements = ['select * from issues'];
    const returned = async () => {
      const { name, url } = await borrowDatabase(pool.socket);
      const client = new pg.Client({ connectionString: url, application_name: 'forgotten' });
      client.on('error', () => undefined);
      await client.connect();
      return returnDatabase(pool.socket, { name, statements });
    };
    for (const problems of await Promise.all([returned(), returned()])) {
      expect(problems.leaked).toEqual([expect.stringContaining('forgotten')]);
      expect(problems.findings).toEqual([expect.stringContaining('issues is touched without tenant_id')]);
    }
    await pool.close();
  });

  test('counts the connections of clients alone: autovacuum and parallel workers are the server’s own', async () => {
    const pool = await startPoolServer({ TEST_DATABASE_URL: server.url });
    const { name, url } = await borrowDatabase(pool.socket);
    const client = new pg.Client({ connectionString: url, options: '-c debug_parallel_query=on' });
    client.on('error', () => undefined);
    await client.connect();
    const interrupted = expect(client.query('select pg_sleep(60)')).rejects.toThrow();
    const { leaked } = await returnDatabase(pool.socket, { name, statements: [] });
    expect(leaked).toEqual([expect.stringContaining('last statement: select pg_sleep(60)')]);
    await interrupted;
    await pool.close();
  });

  test('asks the oldest Postgres about each statement that it could prepare', async () => {
    const pool = await startPoolServer({ TEST_DATABASE_URL: server.url, TEST_OLDEST_DATABASE_URL: server.url });
    const statements = [
      ...['begin', 'listen svc', 'select id from issues where tenant_id = $1', '/*prepared:x*/ select svc_now()'],
      ...['select from made_by_a_test', 'select of_later_releases($1)', 'select 1 / 0'],
    ];
    const { name } = await borrowDatabase(pool.socket);
    const { findings } = await returnDatabase(pool.socket, { name, statements });
    expect(findings).toEqual([
      'rejected by the oldest supported Postgres: function of_later_releases(unknown) does not exist\n    select of_later_releases($1)',
    ]);
    await pool.close();
  });

  test('reports why there is no server', async () => {
    const pool = await startPoolServer({ TEST_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/nothing' });
    await expect(borrowDatabase(pool.socket)).rejects.toThrow('ECONNREFUSED');
    await expect(borrowDatabase(pool.socket)).rejects.toThrow('ECONNREFUSED');
    await pool.close();
  });

  test('refuses a run without this workspace’s configuration', async () => {
    await expect(borrowDatabase(undefined)).rejects.toThrow('jest.config.mjs');
  });
});
