import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import pg from 'pg';
import { DistributionError, distributionPlan, PLACEMENT } from '../../src/index.ts';

const database = testDatabase();

async function connected<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(database.adminUrl);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

const PLACES =
  /create_(reference|distributed)_table\('pipeline\.(\w+)'(?:, 'tenant_id', colocate_with => '([\w.]+)')?\)/;

/** The placing statements of the plan, in order. */
const placing = async () =>
  (await connected(distributionPlan)).flatMap((statement) => {
    const [, kind, table = '', beside] = PLACES.exec(statement) ?? [];
    return kind ? [{ kind, table, beside }] : [];
  });

test('places every table but the local ones: reference tables first, the rest beside repos', async () => {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'pipeline'::regnamespace and relkind in ('r', 'p') and not relispartition`.execute(
    database.db,
  );
  const wanted = rows.map(({ name }) => name).filter((name) => PLACEMENT[name] !== 'local');
  const plan = await placing();
  expect(plan.map(({ table }) => table).sort()).toEqual(wanted.sort());
  const kinds = plan.map(({ kind }) => kind);
  expect(kinds.lastIndexOf('reference')).toBeLessThan(kinds.indexOf('distributed'));
  const distributed = plan.filter(({ kind }) => kind === 'distributed');
  expect(distributed[0]).toEqual({ kind: 'distributed', table: 'repos', beside: 'none' });
  expect(new Set(distributed.slice(1).map(({ beside }) => beside))).toEqual(new Set(['pipeline.repos']));
});

test('places each table after the tables that it refers to', async () => {
  const { rows } = await sql<{ name: string; target: string }>`
    select c.relname as name, t.relname as target from pg_constraint k
    join pg_class c on c.oid = k.conrelid join pg_class t on t.oid = k.confrelid
    where k.contype = 'f' and c.relnamespace = 'pipeline'::regnamespace and c.oid <> t.oid and not c.relispartition
      and not t.relispartition`.execute(database.db);
  const order = (await placing()).map(({ table }) => table);
  const early = rows.filter(({ name, target }) => order.includes(name) && order.indexOf(name) < order.indexOf(target));
  expect(rows.length).toBeGreaterThan(20);
  expect(early).toEqual([]);
});

test('turns the conversion of local tables off first, and drops the old rows of tenants last', async () => {
  const plan = await connected(distributionPlan);
  expect(plan[0]).toContain('citus.enable_local_reference_table_foreign_keys = off');
  const firstTruncated = plan.findIndex((statement) => statement.includes('truncate_local_data'));
  expect(plan.slice(firstTruncated).every((statement) => statement.includes('truncate_local_data'))).toBe(true);
  expect(plan.join()).not.toContain("truncate_local_data_after_distributing_table('pipeline.tenants')");
});

test('includes a table that is new and not named in the placement', async () => {
  const plan = await connected(async (client) => {
    await client.query('begin');
    await client.query('create table pipeline.brand_new (tenant_id bigint primary key)');
    return distributionPlan(client);
  });
  expect(plan).toContain(
    "select create_distributed_table('pipeline.brand_new', 'tenant_id', colocate_with => 'pipeline.repos')",
  );
});

test('refuses a database without the schema', async () => {
  await connected(async (client) => {
    await client.query('begin');
    await client.query('drop schema pipeline cascade; create schema pipeline');
    await expect(distributionPlan(client)).rejects.toThrow(DistributionError);
  });
});

test('the function for tables of later migrations does nothing without the extension', async () => {
  const { rows } = await sql<{ is: boolean }>`select pipeline.distribute_table('issues') as is`.execute(database.db);
  expect(rows).toEqual([{ is: false }]);
});
