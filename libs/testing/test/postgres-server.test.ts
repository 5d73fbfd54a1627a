import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { borrowDatabase, returnDatabase } from '../src/databases/borrow.ts';
import { startBroker } from '../src/databases/broker.ts';
import type { TestServer } from '../src/databases/postgres-container.ts';
import { startTestServer } from '../src/databases/postgres-server.ts';
import { databaseUrl, ensureTemplate, execute } from '../src/databases/template.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ TEST_POSTGRES: 'embedded' });
});
afterAll(() => server.stop());

test('a given server is used and never stopped', async () => {
  const given = await startTestServer({ TEST_DATABASE_URL: server.url, TEST_POSTGRES: 'embedded' });
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

describe('the broker', () => {
  test('starts nothing until a file asks, and lends each a database of its own', async () => {
    const idle = await startBroker({ TEST_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/nothing' });
    await idle.close();
    const broker = await startBroker({ TEST_DATABASE_URL: server.url });
    const [one, two] = await Promise.all([borrowDatabase(broker.socket), borrowDatabase(broker.socket)]);
    expect(one.name).not.toBe(two.name);
    await execute(one.url, 'select from pipeline.issues', 'create table mine ()');
    await expect(execute(two.url, 'select from mine')).rejects.toThrow('does not exist');
    const unused = { leaked: [], findings: [] };
    expect(await returnDatabase(broker.socket, { name: one.name, statements: [] })).toEqual(unused);
    await expect(execute(one.url, 'select 1')).rejects.toThrow('does not exist');
    expect(await returnDatabase(broker.socket, { name: two.name, statements: [] })).toEqual(unused);
    await broker.close();
  });

  test('reports connections left open and statements that break the rules, each time', async () => {
    const broker = await startBroker({ TEST_DATABASE_URL: server.url });
    const statements = [{ pool: 'tenant', text: 'select * from issues' }] as const;
    const returned = async () => {
      const { name, url } = await borrowDatabase(broker.socket);
      const client = new pg.Client({ connectionString: url, application_name: 'forgotten' });
      client.on('error', () => undefined);
      await client.connect();
      return returnDatabase(broker.socket, { name, statements });
    };
    for (const problems of await Promise.all([returned(), returned()])) {
      expect(problems.leaked).toEqual([expect.stringContaining('forgotten')]);
      expect(problems.findings).toEqual([expect.stringContaining('issues is touched without tenant_id')]);
    }
    await broker.close();
  });

  test('asks the oldest Postgres about each statement that it could prepare', async () => {
    const broker = await startBroker({ TEST_DATABASE_URL: server.url, TEST_OLDEST_DATABASE_URL: server.url });
    const texts = [
      ...['begin', 'listen svc', 'select id from issues where tenant_id = $1', '/*prepared:x*/ select svc_now()'],
      ...['select from made_by_a_test', 'select of_later_releases($1)', 'select 1 / 0'],
    ];
    const statements = texts.map((text) => ({ pool: 'read' as const, text }));
    const { name } = await borrowDatabase(broker.socket);
    const { findings } = await returnDatabase(broker.socket, { name, statements });
    expect(findings).toEqual([
      '[read] the oldest Postgres refuses it: function of_later_releases(unknown) does not exist\n    select of_later_releases($1)',
    ]);
    await broker.close();
  });

  test('tells its caller why there is no server', async () => {
    const broker = await startBroker({ TEST_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/nothing' });
    await expect(borrowDatabase(broker.socket)).rejects.toThrow('ECONNREFUSED');
    await expect(borrowDatabase(broker.socket)).rejects.toThrow('ECONNREFUSED');
    await broker.close();
  });

  test('refuses a run without this workspace’s configuration', async () => {
    await expect(borrowDatabase(undefined)).rejects.toThrow('jest.config.mjs');
  });
});
