import { describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { databaseUrl, execute, serviceUrl } from '@pipeline/testing/template';
import { sql } from 'kysely';
import pg from 'pg';
import {
  applyRoles,
  ensureTenant,
  makePartitions,
  migrateToLatest,
  openStore,
  type ServiceKind,
} from '../../src/index.ts';

const database = testDatabase();

/** Runs statements one by one as a service. @returns the SQLSTATE of each, or 'done'. */
async function outcomes(kind: ServiceKind, statements: readonly string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: serviceUrl(database.adminUrl, kind) });
  await client.connect();
  const ends: string[] = [];
  for (const statement of statements) {
    const end = client.query(statement).then(
      () => 'done',
      (error: { code?: string }) => error.code ?? String(error),
    );
    ends.push(await end);
  }
  await client.end();
  return ends;
}

const DENIED = '42501';

describe('the role of a service', () => {
  test.each<ServiceKind>(['hosted_api', 'monitor'])('refuses every change of the schema to %s', async (kind) => {
    const refused = [
      'create table pipeline.mine (id int primary key)',
      'alter table pipeline.tenants add column motto text',
      'drop table pipeline.tasks',
      'truncate pipeline.tasks',
      'create index on pipeline.tasks (id)',
      'create function pipeline.mine() returns int language sql return 1',
      'create schema mine',
      'create role mine',
      'create extension hstore',
      `copy pipeline.tenants to program 'true'`,
      `select pg_read_file('postgresql.conf')`,
      'set session_replication_role = replica',
      'set role pipeline_test_owner',
      `insert into pipeline.schema_migrations (name, timestamp) values ('x', 'x')`,
      'update pipeline.audit_log set reason = null',
      'delete from pipeline.audit_log',
    ];
    expect(await outcomes(kind, refused)).toEqual(refused.map(() => DENIED));
  });

  test.each([
    ['update pipeline.repos set setup_command = null'],
    ['update pipeline.users set password_hash = null'],
    ['delete from pipeline.users'],
    ['select from pipeline.audit_log'],
    [`insert into pipeline.track_prompts (instructions) values ('x')`],
    ['update pipeline.settings set body = null'],
    [`insert into pipeline.worker_tokens (name) values ('x')`],
    ['update pipeline.worker_tokens set revoked_at = null'],
    ['update pipeline.workflow_snapshots set active = true'],
  ])('refuses the hosted API: %s', async (statement) => {
    expect(await outcomes('hosted_api', [statement])).toEqual([DENIED]);
  });

  test('lets the monitor read and write every other table', async () => {
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_class
      where relnamespace = 'pipeline'::regnamespace and relkind in ('r', 'p') and relname not like 'schema_migrations%'
        and relname <> 'audit_log'`.execute(database.db);
    expect(rows.length).toBeGreaterThan(50);
    const statements = rows.flatMap(({ name }) => [
      `select from pipeline.${name} limit 0`,
      `delete from pipeline.${name} where false`,
      `insert into pipeline.${name} select * from pipeline.${name} where false`,
      `update pipeline.${name} set tenant_id = tenant_id where false`,
    ]);
    const ends = new Set(await outcomes('monitor', statements));
    // 42703: a table without tenant_id; 428C9: one with a generated column. Rights are checked before either.
    expect([...ends].filter((end) => !['42703', '428C9'].includes(end))).toEqual(['done']);
  });

  test('the role is neither superuser nor owner, and may neither create roles nor bypass row security', async () => {
    const { rows } = await sql<Record<string, unknown>>`
      select rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication from pg_roles
      where rolname in ('pipeline_test_hosted_api', 'pipeline_test_monitor') order by 1`.execute(database.db);
    const none = {
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolbypassrls: false,
      rolreplication: false,
    };
    expect(rows).toEqual([
      { rolname: 'pipeline_test_hosted_api', ...none },
      { rolname: 'pipeline_test_monitor', ...none },
    ]);
    const owners = await sql`
      select distinct relowner::regrole::text as owner from pg_class where relnamespace = 'pipeline'::regnamespace
      union select proowner::regrole::text from pg_proc where pronamespace = 'pipeline'::regnamespace
      union select nspowner::regrole::text from pg_namespace where nspname = 'pipeline'`.execute(database.db);
    expect(owners.rows).toEqual([{ owner: 'pipeline_test_owner' }]);
  });
});

describe('partitions', () => {
  test('the monitor creates and drops partitions through functions, no other service does', async () => {
    const calls = [
      `select pipeline.create_month_partition('cost_events', '2001-01')`,
      `select pipeline.drop_month_partition('cost_events', '2001-01')`,
    ];
    expect(await outcomes('hosted_api', calls)).toEqual([DENIED, DENIED]);
    expect(await outcomes('monitor', calls)).toEqual(['done', 'done']);
  });

  test('refuse any other table, a month in another form and a month that is not over', async () => {
    const present = new Date().toISOString().slice(0, 7);
    const calls = [
      `select pipeline.create_month_partition('tasks', '2001-01')`,
      `select pipeline.drop_month_partition('tenants', '2001-01')`,
      `select pipeline.drop_month_partition('cost_events', 'default')`,
      `select pipeline.create_month_partition('cost_events', '2001-13')`,
      `select pipeline.create_month_partition('cost_events', null)`,
      `select pipeline.create_month_partition(null, '2001-01')`,
      `select pipeline.drop_month_partition('cost_events', '${present}')`,
    ];
    expect(await outcomes('monitor', calls)).toEqual(calls.map(() => '22023'));
  });

  test("use none of the caller's objects, whatever its search path", async () => {
    const hidden = [
      'create temp table pg_attribute (attname name)',
      'create temp table cost_events_default (id int)',
      'set search_path = pg_temp, pipeline',
      `select pipeline.create_month_partition('cost_events', '2002-01')`,
    ];
    expect(await outcomes('monitor', hidden)).toEqual(['done', 'done', 'done', 'done']);
    const { rows } = await sql`
      select relowner::regrole::text as owner from pg_class where relname = 'cost_events_2002_01'`.execute(database.db);
    expect(rows).toEqual([{ owner: 'pipeline_test_owner' }]);
  });
});

describe('applyRoles', () => {
  /** A database of its own, owned by a login that may do what `rights` say. */
  async function withMigrator(rights: string, use: (url: string) => Promise<void>): Promise<void> {
    const name = `${new URL(database.adminUrl).pathname.slice(1)}_roles`;
    const login = `${name}_migrator`;
    await execute(
      database.adminUrl,
      `create role ${login} login password 'test' ${rights}`,
      `create database ${name} owner ${login}`,
    );
    const url = new URL(databaseUrl(database.adminUrl, name));
    [url.username, url.password] = [login, 'test'];
    try {
      await use(url.href);
    } finally {
      const { rows } = await sql<{ name: string }>`
        select rolname as name from pg_roles where rolname like ${`${name}%`}`.execute(database.db);
      await execute(database.adminUrl, `drop database ${name} with (force)`);
      for (const role of rows) await execute(database.adminUrl, `drop role ${role.name}`);
    }
  }
  const prefixOf = (url: string) => new URL(url).pathname.slice(1);

  async function may(url: string, role: string, [table, right]: readonly [string, string]): Promise<boolean> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query('select has_table_privilege($1, $2, $3) as may', [role, table, right]);
    await client.end();
    return rows[0].may;
  }

  test('lists missing roles when the login may not create them, and grants once they exist', async () => {
    await withMigrator('', async (url) => {
      const prefix = prefixOf(url);
      const login = new URL(url).username;
      await migrateToLatest(url);
      const roles = ['owner', 'hosted_api', 'monitor'].map((kind) => `${prefix}_${kind}`);
      expect(await applyRoles(url, { prefix })).toEqual({ granted: [], missing: roles, owner: login });
      await expect(applyRoles(url, { prefix, passwords: { monitor: 'x' } })).rejects.toThrow(
        `this login cannot set the password of the role ${prefix}_monitor`,
      );
      for (const role of roles) await execute(database.adminUrl, `create role ${role}`);
      expect(await applyRoles(url, { prefix })).toEqual({ granted: roles.slice(1), missing: [], owner: login });
    });
  });

  test('works for a login that may create roles but is no superuser', async () => {
    await withMigrator('createrole', async (url) => {
      const prefix = prefixOf(url);
      await migrateToLatest(url);
      const report = await applyRoles(url, { prefix, passwords: { monitor: 'a:b@c/"é' } });
      expect(report).toMatchObject({ granted: [`${prefix}_hosted_api`, `${prefix}_monitor`], missing: [] });
      const service = new URL(url);
      service.username = `${prefix}_monitor`;
      service.password = encodeURIComponent('a:b@c/"é');
      const store = openStore({
        databaseUrl: service.href,
        applicationName: 'test',
        poolSize: 1,
        onConnectionError: () => undefined,
      });
      try {
        expect(await ensureTenant(store.db, 'acme')).toBe(1);
        expect((await makePartitions(store.db, 'cost_events', 5)).length).toBeGreaterThan(0);
      } finally {
        await store.close();
      }
    });
  });

  test('takes back rights that an earlier release granted', async () => {
    await withMigrator('createrole', async (url) => {
      const prefix = prefixOf(url);
      await migrateToLatest(url);
      await applyRoles(url, { prefix });
      await execute(url, `grant all on pipeline.repos to ${prefix}_hosted_api`);
      await applyRoles(url, { prefix });
      expect(await may(url, `${prefix}_hosted_api`, ['pipeline.repos', 'update'])).toBe(false);
    });
  });

  test('covers tables of later migrations, also when two runs are concurrent', async () => {
    await withMigrator('createrole', async (url) => {
      const prefix = prefixOf(url);
      await migrateToLatest(url);
      await Promise.all([applyRoles(url, { prefix }), applyRoles(url, { prefix })]);
      await execute(url, 'create table pipeline.later (tenant_id bigint primary key)');
      await applyRoles(url, { prefix });
      expect(await may(url, `${prefix}_monitor`, ['pipeline.later', 'insert'])).toBe(true);
    });
  });
});
