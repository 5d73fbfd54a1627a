import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { type Db, inTransaction } from '../../src/index.ts';

const database = testDatabase();

const pidOf = async (db: Db) => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;

test('statements of one turn share a connection, and a failing one does not affect the others', async () => {
  const { tenant } = database.store.quick;
  const [first, second, failed, third] = await Promise.allSettled([
    pidOf(tenant),
    pidOf(tenant),
    sql`select 1 / 0`.execute(tenant),
    pidOf(tenant),
  ]);
  expect(failed).toMatchObject({ reason: { message: 'division by zero' } });
  expect(first).toMatchObject({ status: 'fulfilled', value: expect.any(Number) });
  expect([second, third]).toEqual([first, first]);
});

test('a later turn does not wait for a slow one', async () => {
  const { tenant } = database.store.quick;
  await pidOf(tenant); // a connection exists now: a waiting statement would be joined
  const slow = expect(sql`select pg_sleep(30)`.execute(tenant)).rejects.toThrow('canceling statement');
  await new Promise(setImmediate);
  await pidOf(tenant);
  await sql`select pg_cancel_backend(pid) from pg_stat_activity where query = 'select pg_sleep(30)'`.execute(
    database.db,
  );
  await slow;
});

test('statements wait together while all connections are in use, and release theirs', async () => {
  const store = database.open({ poolSize: 1 });
  const { tenant } = store.quick;
  for (let round = 0; round < 3; round += 1) {
    const taken = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const held = inTransaction(store.tenant, async () => {
      taken.resolve();
      await over.promise;
    });
    await taken.promise;
    const early = pidOf(tenant);
    await new Promise(setImmediate);
    const late = pidOf(tenant);
    over.resolve();
    await held;
    expect(await late).toBe(await early);
  }
  await store.close();
});

test('a transaction is refused', async () => {
  await expect(inTransaction(database.store.quick.tenant, async (tx) => pidOf(tx))).rejects.toThrow(
    'a transaction requires a dedicated connection',
  );
  expect(await pidOf(database.store.quick.tenant)).toEqual(expect.any(Number));
});

test('the time of the store reaches shared connections', async () => {
  const now = async () => (await sql<{ now: string }>`select svc_now() as now`.execute(database.store.quick.read)).rows;
  database.clock.now = new Date('2030-01-01T00:00:00Z');
  expect(await now()).toEqual([{ now: '2030-01-01T00:00:00.000Z' }]);
  database.clock.now = null;
  expect(await now()).not.toEqual([{ now: '2030-01-01T00:00:00.000Z' }]);
});
