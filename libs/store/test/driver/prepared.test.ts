import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { COLUMNS } from '../../src/driver/database.generated.ts';
import { inTransaction, type Params, prepared } from '../../src/index.ts';

const database = testDatabase();

const byName = prepared('tenants-by-name', (db, p: Params<{ names: string[]; limit: number }>) =>
  db
    .selectFrom('tenants')
    .select('external_id')
    .where('name', '=', sql<string>`any(${p('names')})`)
    .orderBy('external_id')
    .limit(p('limit')),
);
const rename = prepared('tenant-rename', (db, p: Params<{ from: string; to: string }>) =>
  db
    .updateTable('tenants')
    .set({ name: p('to') })
    .where('name', '=', p('from')),
);
const raw = prepared(
  'tenant-count',
  (_db, p: Params<{ name: string }>) => sql<{ n: number }>`select count(*) as n from tenants where name = ${p('name')}`,
);

test('runs as one named statement per connection, in a pool and in a transaction', async () => {
  const store = database.open({ poolSize: 1 });
  await store.db
    .insertInto('tenants')
    .values(['a', 'b', 'c'].map((name) => ({ external_id: name, name })))
    .execute();
  expect(await byName.all(store.db, { names: ['a', 'b'], limit: 10 })).toEqual([
    { external_id: 'a' },
    { external_id: 'b' },
  ]);
  expect(await byName.first(store.db, { names: ['c'], limit: 1 })).toEqual({ external_id: 'c' });
  await inTransaction(store.db, async (tx) => {
    expect(await rename.count(tx, { from: 'c', to: 'd' })).toBe(1);
    expect(await rename.count(tx, { from: 'nobody', to: 'd' })).toBe(0);
    expect(await raw.first(tx, { name: 'd' })).toEqual({ n: 1 });
  });
  const { rows } = await sql<{ name: string; calls: number }>`
    select name, generic_plans + custom_plans as calls from pg_prepared_statements order by name`.execute(store.db);
  expect(rows).toEqual([
    { name: 'tenant-count', calls: 1 },
    { name: 'tenant-rename', calls: 2 },
    { name: 'tenants-by-name', calls: 2 },
  ]);
  await store.close();
});

test('throws with the name of a missing parameter instead of sending null', async () => {
  const partial = { names: ['a'] } as unknown as { names: string[]; limit: number };
  await expect(byName.all(database.store.db, partial)).rejects.toThrow('tenants-by-name lacks its parameter "limit"');
});

test('refuses a second text for a name on the connection that prepared the first', async () => {
  const other = prepared('tenant-count', () => sql<{ one: number }>`select 1 as one`);
  const store = database.open({ poolSize: 1 });
  await raw.first(store.db, { name: 'x' });
  await expect(other.first(store.db, {})).rejects.toThrow('must be unique');
  await store.close();
});

test('every statement of the store is valid, used or not', async () => {
  // In a process of its own: test files share theirs, and with it the invalid statements that some of them define.
  const [store, driver] = ['index.ts', 'driver/prepared.ts'].map((file) => import.meta.resolve(`../../src/${file}`));
  const program = `await import('${store}'); console.log((await import('${driver}')).compileAll());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  expect(Number(stdout)).toBeGreaterThan(100);
});

test('refuses a name that Postgres would truncate', () => {
  expect(() => prepared('Two Words', () => sql`select 1`).sql).toThrow('not a statement name');
});

test('runs a prepared statement after a migration has added a column', async () => {
  const store = database.open({ poolSize: 1 });
  const named = prepared('tenant-by-name', (db, p: Params<{ name: string }>) =>
    db.selectFrom('tenants').select(COLUMNS.tenants).where('name', '=', p('name')),
  );
  const before = await named.all(store.db, { name: 'a' });
  await sql`alter table tenants add column motto text`.execute(database.db);
  expect(await named.all(store.db, { name: 'a' })).toEqual(before);
  await sql`alter table tenants drop column motto`.execute(database.db);
  await store.close();
});

test.each(['select * from tenants', 'delete from tenants returning *', 'select t.* from tenants t'])(
  'refuses a statement that would change with the next column when it is compiled: %s',
  (text) => {
    expect(() => prepared('tenants-star', () => sql.raw(text)).sql).toThrow('name its columns');
  },
);
