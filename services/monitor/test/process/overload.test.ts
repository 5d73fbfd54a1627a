import { afterEach, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { makeBench } from '../support/bench.ts';
import { serveConnected } from '../support/served-app.ts';

const database = testDatabase();
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
  await db.fleet.transaction().execute(async (tx) => {
    await sql`lock table repos in access exclusive mode`.execute(tx);
    const answers = await Promise.all(Array.from({ length: 20 }, pause));
    expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
      Array(20).fill([503, '2']),
    );
  });
  expect((await pause()).status).toBe(404);
});
