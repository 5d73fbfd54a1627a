import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { claim, recordMessages, registerWorker } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { LogIndex } from '../../src/logs/log-index.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp } from '../support/served-app.ts';

const database = testDatabase();

describe('logs of the API', () => {
  const NOW = new Date('2026-03-01T12:00:00.000Z');
  const storeWatch = { isConnected: true } as never;

  let dir: string;
  let call: Call;
  let bench: Bench;
  const closes: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    bench = await makeBench(database.store, 'acme/shop');
  });
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'logs-'));
    const served = await serveApp({
      pipeline: { engine: bench.engine, storeWatch },
      logs: new LogIndex(dir),
      now: () => NOW,
    });
    call = served.call;
    closes.push(served.close);
  });
  afterEach(async () => {
    for (const close of closes.splice(0)) await close();
    await rm(dir, { recursive: true });
  });

  const put = (...entries: object[]) =>
    writeFile(join(dir, 'monitor.log'), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  const entry = (minutesAgo: number, msg: string, more: object = {}) => ({
    timestamp: new Date(NOW.getTime() - minutesAgo * 60_000).toISOString(),
    level: 'info',
    msg,
    agent: 'monitor',
    ...more,
  });
  const msgs = (answer: { json: never }) => (answer.json as { items: { msg: string }[] }).items.map(({ msg }) => msg);

  describe('GET /api/logs', () => {
    test('gives entries newest first, with all other fields as context, and how many match', async () => {
      await put(entry(2, 'older'), entry(1, 'newer', { route: 'x', issue: 7, pid: 3 }));
      const answer = await call('GET', '/api/logs?limit=1');
      expect(answer).toMatchObject({
        status: 200,
        json: {
          items: [{ msg: 'newer', level: 'info', agent: 'monitor', context: { route: 'x', issue: 7 } }],
          page: { total: 2, limit: 1, offset: 0, hasMore: true },
        },
      });
      const last = await call('GET', '/api/logs?limit=1&offset=1');
      expect([msgs(last), last.json]).toMatchObject([['older'], { page: { total: 2, hasMore: false } }]);
    });

    test.each([
      ['level=warn', ['bad', 'poor']],
      ['level=fatal', []],
      ['since=90s', ['good']],
      ['since=2m', ['good', 'poor']],
      ['since=2026-03-01T11:57:00Z', ['good', 'poor', 'bad']],
      ['since=2026-03-01T13:58:00%2B02:00', ['good', 'poor']],
      ['since=2026-03-01T11:58:00', ['good', 'poor']],
      ['since=2026-03-01t11:58:00z', ['good', 'poor']],
      ['since=1d&issue=7', ['poor']],
      ['search=OO', ['good', 'poor']],
      ['agent=monitor&search=', ['good', 'poor', 'bad']],
      ['agent=hosted-api', []],
      [`agent=${'x'.repeat(300)}`, []],
      [`issue=${'7'.repeat(300)}`, []],
      [`search=${'x'.repeat(2000)}`, []],
      ['agent=&issue=&search=&limit=&offset=', ['good', 'poor', 'bad']],
      ['since=2026-03-01T11:58:30', ['good']],
      ['offset=200000', []],
      ['offset=99999999999999999999', []],
    ])('filters by %s', async (query, expected) => {
      await put(entry(3, 'bad', { level: 'error' }), entry(2, 'poor', { level: 'warn', issue: 7 }), entry(1, 'good'));
      const found = msgs(await call('GET', `/api/logs?${query}`));
      expect(found.sort()).toEqual([...expected].sort());
    });

    test('clamps a limit that is too high', async () => {
      expect((await call('GET', '/api/logs?limit=5000')).json).toMatchObject({ page: { limit: 1000, total: 0 } });
      expect((await call('GET', '/api/logs')).json).toMatchObject({ page: { limit: 200 } });
    });

    test.each([
      ['level=loud', 'level: must be one of debug, info, warn, error, fatal'],
      ['since=yesterday', 'since: must be a timestamp, or a duration before now'],
      ['limit=0', 'limit: must be 1 or more'],
      ['limit=-5', 'limit: must be 1 or more'],
      ['limit=ten', 'limit: must be a whole number'],
      ['offset=-1', 'offset: must be 0 or more'],
      ['offset=ten', 'offset: must be a whole number'],
    ])('refuses %s with 400', async (query, message) => {
      const answer = await call('GET', `/api/logs?${query}`);
      expect(answer).toMatchObject({ status: 400, json: { code: 'INVALID_INPUT' } });
      expect((answer.json as { error: string }).error).toContain(message);
    });

    test('needs neither a store nor a folder', async () => {
      const { call: bare, close } = await serveApp();
      closes.push(close);
      expect(await bare('GET', '/api/logs')).toMatchObject({ status: 200, json: { items: [], page: { total: 0 } } });
    });
  });

  describe('GET /api/logs/messages', () => {
    let taskId: string;
    beforeAll(async () => {
      await admit(bench, 7);
      const { engine, tenantId } = bench;
      const worker = { name: 'w', hostname: 'h', version: '1', repos: [], taskTypes: ['analyze'], labels: {} };
      const workerId = await registerWorker(engine, tenantId, worker);
      const task = await claim(engine, { tenantId, workerId, taskTypes: ['analyze'], repoIds: null });
      if (!task) throw new Error('nothing to claim');
      taskId = task.id;
      const base = { role: 'assistant', toolName: null, content: null };
      await recordMessages(engine, { tenantId, taskId, claimToken: task.claimToken }, [
        { ...base, invocationIndex: 1, sequence: 0, subtype: 'text', content: 'second call' },
        { ...base, invocationIndex: 0, sequence: 0, subtype: 'text', content: 'hello' },
        { ...base, invocationIndex: 0, sequence: 1, subtype: 'tool_use', toolName: 'grep', toolInput: { of: 'x' } },
        { ...base, invocationIndex: 0, sequence: 2, subtype: 'tool_result', toolOutput: ['y'], content: 'y' },
      ] as never);
    });
    afterAll(() => database.db.deleteFrom('agent_messages').execute());

    const of = 'owner=acme&repo=shop&issue=7';
    const items = async (query: string) =>
      ((await call('GET', `/api/logs/messages?${query}`)).json as { items: Record<string, unknown>[] }).items;

    test('gives them in the order of calls and messages; what tools got and gave only on request', async () => {
      const plain = await items(of);
      expect(plain.map(({ sequence, content }) => [sequence, content])).toEqual([
        [0, 'hello'],
        [1, null],
        [2, null],
        [0, 'second call'],
      ]);
      expect(plain.some((item) => 'toolInput' in item || 'toolOutput' in item)).toBe(false);
      const full = await items(`${of}&include=tools`);
      expect(full[1]).toMatchObject({ taskId, toolName: 'grep', toolInput: { of: 'x' } });
      expect(full[2]).toMatchObject({ toolOutput: ['y'], content: 'y' });
      expect(full[2]).not.toHaveProperty('toolInput');
    });

    test('pages without a total, and filters by task and call', async () => {
      const answer = await call('GET', `/api/logs/messages?${of}&limit=3&offset=1`);
      expect(answer.json).toMatchObject({ page: { total: null, limit: 3, offset: 1, hasMore: false } });
      const first = await call('GET', `/api/logs/messages?${of}&limit=3`);
      expect(first.json).toMatchObject({ page: { hasMore: true } });
      expect(await items(`${of}&invocation=1`)).toHaveLength(1);
      expect(await items(`${of}&taskId=${taskId}`)).toHaveLength(4);
      expect(await items(`${of}&taskId=0198c5a4-7c1e-7000-8000-000000000001`)).toEqual([]);
    });

    test('clamps the limit; an unknown issue or repo has no messages', async () => {
      expect((await call('GET', `/api/logs/messages?${of}&limit=9999`)).json).toMatchObject({ page: { limit: 2000 } });
      expect((await call('GET', `/api/logs/messages?${of}&limit=0`)).json).toMatchObject({ page: { limit: 1 } });
      expect(await items('owner=acme&repo=shop&issue=99')).toEqual([]);
      expect(await items('owner=acme&repo=none&issue=7')).toEqual([]);
    });

    test.each([
      'repo=shop&issue=7',
      'owner=acme&issue=7',
      'owner=acme&repo=shop',
      'owner=acme&repo=shop&issue=x',
      `${of}&invocation=-1`,
      `${of}&taskId=1`,
      `${of}&limit=ten`,
      `${of}&include=all`,
    ])('refuses %s with 400 INVALID_INPUT', async (query) => {
      const answer = await call('GET', `/api/logs/messages?${query}`);
      expect(answer).toMatchObject({ status: 400, json: { code: 'INVALID_INPUT' } });
    });

    test('answers 503 without a store', async () => {
      const { call: bare, close } = await serveApp();
      closes.push(close);
      expect(await bare('GET', `/api/logs/messages?${of}`)).toMatchObject({
        status: 503,
        json: { code: 'STORE_UNAVAILABLE' },
      });
    });
  });

  afterAll(() => database.clear());
});
