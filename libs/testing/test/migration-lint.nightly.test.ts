import { beforeAll, describe, expect, test } from '@jest/globals';
import { MIGRATIONS } from '@pipeline/store';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { testDatabase } from '../src/index.ts';
import { BASELINE, lintMigration } from '../src/sql-lint/migration-rules.ts';

const database = testDatabase();
const PARTITIONED = new Set(['pipeline_events', 'issue_events', 'cost_events', 'agent_messages']);
const statements = new Map<string, string[]>();

/** Runs every migration in an empty schema, and keeps its statements. */
beforeAll(async () => {
  let current: string[] = [];
  const pool = new pg.Pool({ connectionString: database.adminUrl, max: 1 });
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void current.push(query.sql),
  });
  try {
    await sql`drop schema pipeline cascade`.execute(db);
    await sql`create schema pipeline`.execute(db);
    for (const [name, migration] of Object.entries(MIGRATIONS)) {
      current = [];
      await migration.up(db);
      statements.set(name, current);
    }
  } finally {
    await db.destroy();
  }
});

const breachesOf = async (names: readonly string[]) => {
  const found = await Promise.all(
    names.map(async (name) => [name, await lintMigration(statements.get(name) ?? [], PARTITIONED)] as const),
  );
  return found.filter(([, breaches]) => breaches.length > 0);
};
test('every migration after the baseline runs on distributed tables', async () => {
  expect(await breachesOf(Object.keys(MIGRATIONS).filter((name) => name > BASELINE))).toEqual([]);
});

describe('each rule stops what breaks it', () => {
  test.each([
    ['drop index pipeline.a, pipeline.b', 'DROP names 2 objects'],
    ['drop table pipeline.a, pipeline.b', 'DROP names 2 objects'],
    [
      'alter table pipeline.tasks add column x int, add constraint c check (x > 0)',
      'tasks: ADD CONSTRAINT with another subcommand',
    ],
    [
      'alter table pipeline.tasks add constraint a check (true), add constraint b check (true)',
      'tasks: ADD CONSTRAINT with another subcommand',
    ],
    ['alter table pipeline.tasks add column x int check (x > 0)', 'tasks: ADD COLUMN x with CHECK'],
    [
      'alter table pipeline.tasks add column x bigint references pipeline.users',
      'tasks: ADD COLUMN x with FOREIGN KEY',
    ],
    ['alter table pipeline.tasks add column x int generated always as identity', 'tasks: ADD COLUMN x with identity'],
    ['alter table pipeline.tasks alter column tenant_id type int', 'tasks: changes the type of tenant_id'],
    ['alter table pipeline.tasks cluster on tasks_pkey', 'tasks: CLUSTER ON'],
    ['create table pipeline.x (tenant_id bigint primary key)', 'x: is not placed'],
    [
      'create table pipeline.x (tenant_id bigint, r bigint, primary key (tenant_id, r), foreign key (tenant_id, r) references pipeline.repos)',
      'x: refers to repos before it is placed',
    ],
    ['create index i on pipeline.cost_events (tenant_id, repo_id)', 'cost_events: index i on a partitioned table'],
    [
      'create trigger t before update on pipeline.tasks for each row execute function suppress_redundant_updates_trigger()',
      'tasks: trigger t',
    ],
  ])('%s', async (text, breach) => {
    expect((await lintMigration([text], PARTITIONED)).join('\n')).toContain(breach);
  });

  test.each([
    ['one object', ['drop index pipeline.a']],
    ['several columns', ['alter table pipeline.tasks add column x int, add column y int not null default 0']],
    ['a local table as it likes', ['alter table pipeline.settings add column x int check (x > 0)']],
    [
      'a new table that is placed before it refers to another',
      [
        'create table pipeline.x (tenant_id bigint references pipeline.tenants, r bigint, primary key (tenant_id, r))',
        `select pipeline.distribute_table('x')`,
        'alter table pipeline.x add constraint x_repo foreign key (tenant_id, r) references pipeline.repos',
      ],
    ],
    [
      'an index of partitions, one shard after the other',
      [
        `set local citus.multi_shard_modify_mode = 'sequential'`,
        'create index i on pipeline.cost_events (tenant_id, repo_id)',
      ],
    ],
  ])('passes %s', async (_name, texts) => {
    expect(await lintMigration(texts, PARTITIONED)).toEqual([]);
  });
});
