import { CompiledQuery } from 'kysely';
import { SCHEMA } from '../driver/connection.ts';
import type { Db } from '../driver/database.ts';
import { MIGRATIONS, type SchemaMigration } from './migrations/index.ts';

export type MigrationList = Readonly<Record<string, SchemaMigration>>;

export const MIGRATION_TABLE = 'schema_migrations';
const BREAKING = '!breaking';

/** The name under which a migration is recorded. It carries the flag, so that code older than it can read it. */
export const recordedName = (name: string, migration: SchemaMigration): string =>
  migration.breaking === true ? name + BREAKING : name;

export interface SchemaStatus {
  /** Name of the last migration that ran; null in a database without our schema. */
  current: string | null;
  /** Name of the last migration that this code knows. */
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
  const known = Object.entries(migrations).map(([name, migration]) => recordedName(name, migration));
  known.sort();
  const applied = await appliedMigrations(db);
  const pending = known.filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !known.includes(name));
  const ok = pending.length === 0 && !unknown.some((name) => name.endsWith(BREAKING));
  return { current: applied.at(-1) ?? null, latest: known.at(-1) ?? null, pending, unknown, ok };
}

async function appliedMigrations(db: Db): Promise<string[]> {
  const table = `${SCHEMA}.${MIGRATION_TABLE}`;
  const { rows: found } = await db.executeQuery<{ exists: boolean }>(
    CompiledQuery.raw('select to_regclass($1) is not null as exists', [table]),
  );
  if (found[0]?.exists !== true) return [];
  const { rows } = await db.executeQuery<{ name: string }>(
    CompiledQuery.raw(`select name from ${table} order by name`),
  );
  return rows.map((row) => row.name);
}

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
  const status = await schemaStatus(db, migrations);
  if (status.pending.length > 0) {
    const at = status.current ?? 'empty';
    const hint = 'run `pnpm migrate` (node libs/store/src/schema/migrate-main.ts) with the same DATABASE_URL';
    throw new SchemaError(`the database schema is ${at}, this release requires ${status.latest}: ${hint}`, status);
  }
  if (!status.ok) {
    const newer = status.unknown.join(', ');
    throw new SchemaError(
      `the database schema is newer than this release (${newer}): deploy the newer release`,
      status,
    );
  }
  const { rows } = await db.executeQuery<{ schema: string | null }>(
    CompiledQuery.raw('select current_schema() as schema'),
  );
  if (rows[0]?.schema !== SCHEMA) {
    const hint = `behind PgBouncer set connect_query = 'set search_path to ${SCHEMA}, public'`;
    throw new SchemaError(
      `the search_path of connections starts with ${rows[0]?.schema}, not ${SCHEMA}: ${hint}`,
      status,
    );
  }
}
