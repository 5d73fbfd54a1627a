import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { inTransaction, isUniqueViolation } from '../../src/index.ts';

const database = testDatabase();
const addTenants = (...names: string[]) =>
  database.store.db
    .insertInto('tenants')
    .values(names.map((name) => ({ external_id: name, name })))
    .execute();
const rename = (name: string, to: string) => sql`update tenants set name = ${to} where external_id = ${name}`;

test('commits both transactions after a deadlock', async () => {
  await addTenants('a', 'b');
  let runs = 0;
  const eachHasOne = Promise.withResolvers<void>();
  const both = (first: string, second: string, value: string) =>
    inTransaction(database.db, async (tx) => {
      await sql`set local deadlock_timeout = '20ms'`.execute(tx);
      await rename(first, value).execute(tx);
      runs += 1;
      if (runs === 2) eachHasOne.resolve();
      await eachHasOne.promise;
      await rename(second, value).execute(tx);
    });
  await Promise.all([both('a', 'b', 'x'), both('b', 'a', 'y')]);
  // The one that was rolled back may meet the other again.
  expect(runs).toBeGreaterThanOrEqual(3);
});

test('rolls back and throws an error that a retry would repeat', async () => {
  let runs = 0;
  const failed = inTransaction(database.store.db, async (tx) => {
    runs += 1;
    await tx.insertInto('tenants').values({ external_id: 'c', name: 'c' }).execute();
    await tx.insertInto('tenants').values({ external_id: 'c', name: 'again' }).execute();
  });
  const error = await failed.catch((caught: unknown) => caught);
  expect(isUniqueViolation(error)).toBe(true);
  expect(isUniqueViolation(error, 'tenants_external_id_key')).toBe(true);
  expect(isUniqueViolation(error, 'tenants_pkey')).toBe(false);
  expect(runs).toBe(1);
  const found = await database.store.db.selectFrom('tenants').where('external_id', '=', 'c').select('id').execute();
  expect(found).toEqual([]);
});

test('gives up after five attempts', async () => {
  let runs = 0;
  const failed = inTransaction(database.store.db, async (tx) => {
    runs += 1;
    await sql`do $$ begin raise serialization_failure; end $$`.execute(tx);
  });
  await expect(failed).rejects.toMatchObject({ code: '40001' });
  expect(runs).toBe(5);
});

test('refuses to nest', async () => {
  const nested = inTransaction(database.store.db, (tx) => inTransaction(tx, async () => 1));
  await expect(nested).rejects.toThrow('transactions do not nest');
});

test('recognises a duplicate key on a distributed schema by its message', () => {
  const shard = { code: '23505', message: 'duplicate key value violates unique constraint "tasks_pkey_102833"' };
  expect(isUniqueViolation(shard, 'tasks_pkey')).toBe(true);
  expect(isUniqueViolation({ ...shard, code: 'XX000' }, 'tasks_pkey')).toBe(true);
  expect(isUniqueViolation({ code: '23505', message: 'something else' })).toBe(false);
});
