import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { type Kysely, sql } from 'kysely';
import { assertSchema, type MigrationList, migrateToLatest, SchemaError, schemaStatus } from '../../src/index.ts';

const database = testDatabase();
const run = promisify(execFile);

const creates = (table: string) => ({
  up: async (db: Kysely<unknown>) => {
    await sql`create table pipeline.${sql.ref(table)} (id int primary key)`.execute(db);
  },
});
const V1: MigrationList = { '0001-one': creates('one') };
const V2: MigrationList = { ...V1, '0002-two': creates('two') };
const V2_BREAKING: MigrationList = { ...V1, '0002-two': { ...creates('two'), breaking: true } };

/** An empty database beside the file's own. */
async function emptyDatabase(use: (url: string, db: ReturnType<typeof database.open>) => Promise<void>) {
  const name = `${new URL(database.adminUrl).pathname.slice(1)}_empty`;
  const url = new URL(database.adminUrl);
  url.pathname = `/${name}`;
  await sql.raw(`create database ${name}`).execute(database.db);
  const store = database.open({ databaseUrl: url.href });
  try {
    await use(url.href, store);
  } finally {
    await store.close();
    await sql.raw(`drop database ${name} with (force)`).execute(database.db);
  }
}

describe('migrateToLatest', () => {
  test('applies pending migrations once when two migrators run concurrently', async () => {
    await emptyDatabase(async (url, { db }) => {
      expect(await schemaStatus(db, V1)).toMatchObject({ current: null, latest: '0001-one', ok: false });
      const reports = await Promise.all([migrateToLatest(url, V2), migrateToLatest(url, V2)]);
      expect(reports.map((report) => report.applied.length).sort()).toEqual([0, 2]);
      expect(await migrateToLatest(url, V2)).toEqual({ applied: [], current: '0002-two' });
      expect(await schemaStatus(db, V2)).toMatchObject({ pending: [], unknown: [], ok: true });
    });
  });

  test('rolls everything back and names the migration when one fails', async () => {
    await emptyDatabase(async (url, { db }) => {
      await migrateToLatest(url, V1);
      const broken: MigrationList = { ...V2, '0003-again': creates('two') };
      await expect(migrateToLatest(url, broken)).rejects.toThrow('migration 0003-again failed');
      expect(await schemaStatus(db, V2)).toMatchObject({ current: '0001-one', pending: ['0002-two'] });
    });
  });
});

test('refuses a database of the development before the first release, and says what to do', async () => {
  await emptyDatabase(async (url) => {
    await migrateToLatest(url, { '0001-tenants-and-repos': creates('one'), '0016-rollups': creates('two') });
    await expect(migrateToLatest(url)).rejects.toThrow(
      'development before the first release, which nothing leads on from',
    );
  });
});

describe('assertSchema', () => {
  test('refuses an older schema and names the command that upgrades it', async () => {
    await emptyDatabase(async (url, { db }) => {
      await migrateToLatest(url, V1);
      await assertSchema(db, V1);
      await expect(assertSchema(db, V2)).rejects.toThrow('this release requires 0002-two: run `npm run migrate`');
    });
  });

  test('accepts a newer schema unless it breaks older code', async () => {
    await emptyDatabase(async (url, { db }) => {
      await migrateToLatest(url, V2);
      await assertSchema(db, V1);
      expect(await migrateToLatest(url, V1)).toEqual({ applied: [], current: '0002-two' });
    });
    await emptyDatabase(async (url, { db }) => {
      await migrateToLatest(url, V2_BREAKING);
      await assertSchema(db, V2_BREAKING);
      await expect(assertSchema(db, V1)).rejects.toThrow('newer than this release (0002-two!breaking)');
      await expect(migrateToLatest(url, V1)).rejects.toBeInstanceOf(SchemaError);
    });
  });

  test('names the repair when the search path of the connection is wrong', async () => {
    await sql.raw('set search_path to public').execute(database.store.reads);
    const store = database.open({ poolSize: 1 });
    await sql.raw('set search_path to public').execute(store.db);
    await expect(assertSchema(store.db)).rejects.toThrow('behind PgBouncer set connect_query');
    await store.close();
  });
});

describe('migrate command', () => {
  const main = join(import.meta.dirname, '../../src/schema/migrate-main.ts');
  const migrate = (env: Record<string, string>, ...args: string[]) =>
    run(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], {
      env: { PATH: process.env.PATH ?? '', DATABASE_ROLE_PREFIX: 'pipeline_test', ...env },
    }).then(
      ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );

  test('migrates an empty database to the latest schema and reports it in one JSON line', async () => {
    await emptyDatabase(async (url, { db }) => {
      const { code, stdout } = await migrate({ DATABASE_URL: url });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        ok: true,
        applied: expect.arrayContaining(['0001-functions']),
      });
      await assertSchema(db);
    });
  });

  test('prefers the direct URL, and names an invalid variable', async () => {
    const direct = await migrate({
      DATABASE_URL: 'postgres://u@127.0.0.1:1/x',
      DATABASE_DIRECT_URL: database.adminUrl,
    });
    expect(JSON.parse(direct.stdout)).toMatchObject({ ok: true, applied: [] });
    const bad = await migrate({ DATABASE_URL: 'mysql://x/y' });
    expect(bad).toMatchObject({ code: 78, stderr: 'DATABASE_URL: must be a postgres:// URL\n' });
  });

  test('does not wait where waiting cannot help', async () => {
    const address = new URL(database.adminUrl);
    address.pathname = '/pipeline_no_such_database';
    const began = Date.now();
    const { code, stdout } = await migrate({ DATABASE_URL: address.href });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).error).toContain('database "pipeline_no_such_database" does not exist');
    expect(Date.now() - began).toBeLessThan(20_000);
  });

  test('refuses to distribute the tables where the extension is missing, and names the remedy', async () => {
    const { code, stdout } = await migrate({ DATABASE_URL: database.adminUrl }, '--distribute');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false });
    expect(JSON.parse(stdout).error).toMatch(
      /DistributionError: this database does not have the extension "citus": .*\(docs\/scale.md\)/,
    );
  });

  test('prints the plan of the distribution and changes nothing', async () => {
    const { code, stdout } = await migrate({ DATABASE_URL: database.adminUrl }, '--distribute', '--plan');
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.every((line) => line.endsWith(';'))).toBe(true);
    expect(lines).toContain("select create_reference_table('pipeline.tenants');");
    expect(lines).toContain(
      "select create_distributed_table('pipeline.issues', 'tenant_id', colocate_with => 'pipeline.repos');",
    );
  });

  test('refuses a plan without a distribution, and unknown options', async () => {
    for (const args of [['--plan'], ['--shards', '8'], ['now']]) {
      expect(await migrate({ DATABASE_URL: database.adminUrl }, ...args)).toMatchObject({ code: 2, stdout: '' });
    }
  });
});
