import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { applyRoles, migrateToLatest, roleName, type ServiceKind } from '@pipeline/store';
import pg from 'pg';

/** The same server, another database. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** The roles of test databases: apart from those of a deployment on the same server. */
const ROLE_PREFIX = 'pipeline_test';
const ROLE_PASSWORD = 'test';

/** The same database, as a service logs in to it: with data rights alone. */
export function serviceUrl(ownerUrl: string, kind: ServiceKind): string {
  const url = new URL(ownerUrl);
  url.username = roleName(kind, ROLE_PREFIX);
  url.password = ROLE_PASSWORD;
  if (url.username === '') throw new TypeError('the address of the Postgres for tests must name a host');
  return url.href;
}

/** Returns a name for a database that is cloned from the template. */
export const testDatabaseName = (): string => `pipeline_test_${randomBytes(6).toString('hex')}`;

/** One connection, for many callers: each waits for its turn. */
export function serialPool(url: string): pg.Pool {
  const connectionString = url;
  const pool = new pg.Pool({ connectionString, application_name: 'pipeline:testing', max: 1, idleTimeoutMillis: 0 });
  // The next caller gets the error; without a listener it would end the run.
  pool.on('error', () => undefined);
  return pool;
}

/** Runs statements one by one on a connection of their own. */
export async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'pipeline:testing' });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/**
 * Partitions are made for the months around the present, so a schema depends on its migrations, its roles and its month.
 */
async function schemaVersion(): Promise<string> {
  const store = createRequire(import.meta.url).resolve('@pipeline/store');
  const folder = join(dirname(store), 'schema/migrations');
  const roles = await readFile(join(dirname(store), 'schema/service-roles.ts'));
  const hash = createHash('sha256').update(new Date().toISOString().slice(0, 7)).update(roles);
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  for (const file of files.sort()) hash.update(file).update(await readFile(join(folder, file)));
  return hash.digest('hex').slice(0, 12);
}

/**
 * Creates the migrated database from which each test file's own is cloned. Once per schema version: on a server that
 * outlives the run it is found again. It is migrated under another name, so a half-made one is never cloned.
 * @returns its name.
 */
export async function ensureTemplate(serverUrl: string): Promise<string> {
  const template = `pipeline_template_${await schemaVersion()}`;
  if (await exists(serverUrl, template)) return template;
  const making = `${template}_${randomBytes(4).toString('hex')}`;
  await execute(serverUrl, `create database ${making}`);
  const url = databaseUrl(serverUrl, making);
  await migrateToLatest(url);
  await applyRoles(url, { prefix: ROLE_PREFIX, passwords: { hosted_api: ROLE_PASSWORD, monitor: ROLE_PASSWORD } });
  try {
    await execute(serverUrl, `alter database ${making} rename to ${template}`);
  } catch (error) {
    // Another run was faster; anything else is an error.
    await execute(serverUrl, `drop database ${making}`);
    if (!(await exists(serverUrl, template))) throw error;
  }
  return template;
}

async function exists(serverUrl: string, database: string): Promise<boolean> {
  const client = new pg.Client(serverUrl);
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
    return rowCount === 1;
  } finally {
    await client.end();
  }
}
