import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { borrowServer, startBroker } from '../src/broker.ts';
import { startTestServer, type TestServer } from '../src/postgres-server.ts';
import { databaseUrl, ensureTemplate, execute } from '../src/template.ts';

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
  test('starts nothing until a file asks, and gives all files the same', async () => {
    const idle = await startBroker({ TEST_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/nothing' });
    await idle.close();
    const broker = await startBroker({ TEST_POSTGRES: 'embedded' });
    const [one, two] = await Promise.all([borrowServer(broker.socket), borrowServer(broker.socket)]);
    expect(one).toEqual(two);
    await broker.close();
  });

  test('tells whoever asks why there is no server', async () => {
    const broker = await startBroker({ TEST_DATABASE_URL: 'postgres://u:p@127.0.0.1:1/nothing' });
    await expect(borrowServer(broker.socket)).rejects.toThrow('ECONNREFUSED');
    await expect(borrowServer(broker.socket)).rejects.toThrow('ECONNREFUSED');
    await broker.close();
  });

  test('a run without this workspace’s configuration is told so', async () => {
    await expect(borrowServer(undefined)).rejects.toThrow('jest.config.mjs');
  });
});
