import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { SCHEMA, withSearchPath } from '../driver/connection.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Db } from '../driver/database.ts';
import { isMissingTable } from '../driver/store-errors.ts';
import { MIGRATIONS, type SchemaMigration } from './migrations/index.ts';

export type MigrationList = Readonly<Record<string, SchemaMigration>>;

const MIGRATION_TABLE = 'schema_migrations';
const BREAKING = '!breaking';

/** The name under which a migration is recorded. It carries the flag, so that code older than it can read it. */
const recordedName = (name: string, migration: SchemaMigration): string =>
  migration.breaking === true ? name + BREAKING : name;

interface SchemaStatus {
  /** Name of the last migration that ran; null in a database without our schema. */
  current: string | null;
  /** Name of the last migration that this code has. */
  latest: string | null;
  /** Migrations that this code needs and that have not run. */
  pending: string[];
  /** Migrations that ran and that this code does not know: the schema is newer. */
  unknown: string[];
  /** True when this code may work on the schema: nothing pending, and nothing unknown that breaks it. */
  ok: boolean;
}

/** Compares the schema with this code. One short query; cheap enough for a readiness probe. */
export async function schemaStatus(db: Db, migrations: MigrationList = MIGRATIONS): Promise<SchemaStatus> {
  return statusOf((await readSchema(db)).applied, migrations);
}

function statusOf(applied: readonly string[], migrations: MigrationList): SchemaStatus {
  const known = Object.entries(migrations).map(([name, migration]) => recordedName(name, migration));
  known.sort();
  const pending = known.filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !known.includes(name));
  const ok = pending.length === 0 && !unknown.some((name) => name.endsWith(BREAKING));
  return { current: applied.at(-1) ?? null, latest: known.at(-1) ?? null, pending, unknown, ok };
}

interface FoundSchema {
  /** The first schema of the connection's search path that exists. */
  first: string | null;
  /** Recorded names of the migrations that ran. */
  applied: string[];
}

const READ_SCHEMA = `select current_schema() as first,
  array(select name::text from ${SCHEMA}.${MIGRATION_TABLE} order by name) as applied`;

async function readSchema(db: Db): Promise<FoundSchema> {
  try {
    const { rows } = await db.executeQuery<FoundSchema>(CompiledQuery.raw(READ_SCHEMA));
    return rows[0] ?? { first: null, applied: [] };
  } catch (error) {
    // No migration has run.
    if (isMissingTable(error)) return { first: null, applied: [] };
    throw error;
  }
}

const DEVELOPMENT_SCHEMA =
  'the database was made by a version of the development before the first release, which nothing leads on from: ' +
  'use an empty database, or drop the schema pipeline of this one, with all that is in it';

/** The schema does not fit this code. The message names the command that repairs it. */
export class SchemaError extends Error {
  readonly status: SchemaStatus;
  constructor(message: string, status: SchemaStatus) {
    super(message);
    this.name = 'SchemaError';
    this.status = status;
  }
}

/**
 * The schema check of a service before it starts.
 * @throws SchemaError when the schema is older than this code or has a newer breaking change, or when the search path
 * of the connection does not contain our schema.
 */
export async function assertSchema(db: Db, migrations: MigrationList = MIGRATIONS): Promise<void> {
  const { first, applied } = await readSchema(db);
  const status = statusOf(applied, migrations);
  if (status.pending.length > 0) {
    const at = status.current ?? 'empty';
    const hint = 'run `npm run migrate` (libs/store/src/schema/migrate-main.ts) with the same DATABASE_URL';
    throw new SchemaError(`the database schema is ${at}, this release requires ${status.latest}: ${hint}`, status);
  }
  if (!status.ok) {
    const newer = status.unknown.join(', ');
    throw new SchemaError(
      `the database schema is newer than this release (${newer}): deploy the newer release`,
      status,
    );
  }
  if (first !== SCHEMA) {
    const hint = `behind PgBouncer set connect_query = 'set search_path to ${SCHEMA}, public'`;
    throw new SchemaError(`the search_path of connections starts with ${first}, not ${SCHEMA}: ${hint}`, status);
  }
}

interface MigrationReport {
  applied: string[];
  current: string | null;
}

/**
 * Migrates the schema to the version of this code. All pending migrations run in one transaction, under a session
 * advisory lock that serialises migrators. A schema that is newer without breaking this code is left as it is.
 * @param directUrl a connection to the server itself: the lock would not survive a pooler.
 * @throws SchemaError when the schema is newer and breaks this code; the migration's error when one fails.
 */
export async function migrateToLatest(
  directUrl: string,
  migrations: MigrationList = MIGRATIONS,
): Promise<MigrationReport> {
  const pool = new pg.Pool({
    connectionString: withSearchPath(directUrl),
    application_name: 'pipeline:migrate',
    max: 2,
    connectionTimeoutMillis: 5_000,
  });
  const broken: Error[] = [];
  pool.on('error', (error) => broken.push(error));
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  try {
    const before = await schemaStatus(db, migrations);
    if (before.unknown.length > 0) return leaveNewer(before);
    return await run(db, migrations);
  } catch (error) {
    if (broken.length > 0) throw new AggregateError([error, ...broken], 'the connection broke during the migration');
    throw error;
  } finally {
    await db.destroy();
  }
}

/** The first migration of the development before the first release. */
const BEFORE_BASELINE = '0001-tenants-and-repos';

function leaveNewer(status: SchemaStatus): MigrationReport {
  if (status.unknown.includes(BEFORE_BASELINE)) throw new SchemaError(DEVELOPMENT_SCHEMA, status);
  if (status.ok) return { applied: [], current: status.current };
  const newer = status.unknown.join(', ');
  throw new SchemaError(
    `the database has migrations that this code does not know (${newer}): migrate with the newer release`,
    status,
  );
}

async function run(db: Kysely<DB>, migrations: MigrationList): Promise<MigrationReport> {
  const named = Object.entries(migrations).map(([name, migration]) => [recordedName(name, migration), migration]);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(named) },
    migrationTableSchema: SCHEMA,
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: `${MIGRATION_TABLE}_lock`,
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const failed = results.find((result) => result.status === 'Error');
    throw failed ? new Error(`migration ${failed.migrationName} failed`, { cause: error }) : error;
  }
  const applied = results.map((result) => result.migrationName);
  return { applied, current: (await schemaStatus(db, migrations)).current };
}
