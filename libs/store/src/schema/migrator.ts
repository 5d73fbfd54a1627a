import { Kysely, PostgresDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { SCHEMA, withSearchPath } from '../driver/connection.ts';
import type { DB } from '../driver/database.generated.ts';
import { MIGRATIONS } from './migrations/index.ts';
import {
  MIGRATION_TABLE,
  type MigrationList,
  recordedName,
  SchemaError,
  type SchemaStatus,
  schemaStatus,
} from './schema.ts';

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

function leaveNewer(status: SchemaStatus): MigrationReport {
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
