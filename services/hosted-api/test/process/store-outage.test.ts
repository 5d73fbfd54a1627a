import { afterAll, expect, test } from '@jest/globals';
import { startCutProxy, until } from '@pipeline/testing';
import { sql } from 'kysely';
import { answerOf, labelIssue, makeTenant, register, testHosted, WORK } from '../support/hosted.ts';

const hosting = testHosted();
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
  // No check has run yet: the first requests find out.
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
  const db = hosting.open({ idleInTransactionMs: 60_000 });
  await db.fleet.transaction().execute(async (tx) => {
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
