import pg from 'pg';
import { SCHEMA } from '../driver/connection.ts';

export type Placement = 'reference' | 'local';

/**
 * Placement of tables on a distributed store. A table that is not named here belongs to tenants and is distributed by
 * tenant_id; naming a table is a decision.
 */
export const PLACEMENT: Readonly<Record<string, Placement>> = {
  // Small, rarely updated, read by all: a full copy on every node.
  tenants: 'reference',
  users: 'reference',
  // Read with the rows of every tenant, written every few minutes.
  closed_facts: 'reference',
  // A transaction that writes a copy on every node is committed in two phases: no action without its entry, no failed
  // reload without its alert.
  audit_log: 'reference',
  config_reloads: 'reference',
  // One row, or keys that must be unique over all tenants: on the coordinator only.
  model_prices: 'local',
  oauth_artifacts: 'local',
  oauth_clients: 'local',
  oauth_connections: 'local',
  oauth_tokens: 'local',
  rate_limits: 'local',
  agent_restarts: 'local',
  leaders: 'local',
  loop_problems: 'local',
  settings: 'local',
  trace_cursor: 'local',
  user_identities: 'local',
  user_sessions: 'local',
  webhook_deliveries: 'local',
  worker_tokens: 'local',
  schema_migrations: 'local',
  schema_migrations_lock: 'local',
};

/**
 * The tables of the schema without partitions, which follow their parent: name, whether the database has placed it
 * already, and the tables that it refers to. A table must be placed after those that it refers to.
 */
const TABLES = `
  select c.relname as name, false as placed,
    array(select distinct target.relname::text from pg_constraint k join pg_class target on target.oid = k.confrelid
      where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as refers_to
  from pg_class c
  where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relname`;

/** Tables that this database has placed. The catalogue exists with the extension alone. */
const PLACED = 'select logicalrelid::oid::regclass::text as name from pg_dist_partition';

interface Table {
  name: string;
  placed: boolean;
  refers_to: string[];
}

/** The first of the distributed tables; the shards of the others are kept beside its own. */
const FIRST = 'repos';

/** Action that the operator must take first; the message names it. */
export class DistributionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DistributionError';
  }
}

/**
 * The statements that distribute the tables of this database, without those that are placed already: reference tables
 * first, then the tables of tenants, each after those that it refers to. Empty when all are placed.
 * @throws DistributionError when the schema has no tables.
 */
export async function distributionPlan(client: pg.ClientBase): Promise<string[]> {
  const tables = await readTables(client);
  if (!tables.some(({ name }) => name === FIRST)) {
    throw new DistributionError(`the schema ${SCHEMA} has no tables: migrate this database first`);
  }
  const wanted = tables.filter(({ name, placed }) => !placed && PLACEMENT[name] !== 'local');
  const reference = inOrder(wanted.filter(({ name }) => PLACEMENT[name] === 'reference'));
  const distributed = inOrder(wanted.filter(({ name }) => PLACEMENT[name] === undefined));
  if (wanted.length === 0) return [];
  return [
    // Otherwise the first reference table takes all tables that refer to it into the metadata of the cluster as local ones.
    "do $$ begin execute format('alter database %I set citus.enable_local_reference_table_foreign_keys = off', current_database()); end $$",
    'set citus.enable_local_reference_table_foreign_keys = off',
    ...reference.map((name) => `select create_reference_table('${SCHEMA}.${name}')`),
    ...distributed.map((name) => {
      const beside = name === FIRST ? 'none' : `${SCHEMA}.${FIRST}`;
      return `select create_distributed_table('${SCHEMA}.${name}', 'tenant_id', colocate_with => '${beside}')`;
    }),
    // The rows of before stay on the coordinator's disk until then.
    ...distributed.map((name) => `select truncate_local_data_after_distributing_table('${SCHEMA}.${name}')`),
  ];
}

async function readTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(TABLES, [SCHEMA]);
  if (!(await hasExtension(client))) return rows;
  await client.query(`set search_path to ${SCHEMA}, public`);
  const placed = new Set((await client.query<{ name: string }>(PLACED)).rows.map(({ name }) => name));
  return rows.map((table) => ({ ...table, placed: placed.has(table.name) }));
}

/** Each after those that it refers to; the first one before its equals. */
function inOrder(tables: readonly Table[]): string[] {
  const names = new Set(tables.map(({ name }) => name));
  const ordered: string[] = [];
  const visit = ({ name, refers_to }: Table) => {
    if (ordered.includes(name)) return;
    for (const table of tables) if (refers_to.includes(table.name) && names.has(table.name)) visit(table);
    ordered.push(name);
  };
  for (const table of [...tables].sort((a, b) => Number(b.name === FIRST) - Number(a.name === FIRST))) visit(table);
  return ordered;
}

async function hasExtension(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query("select from pg_extension where extname = 'citus'");
  return rows.length > 0;
}

/** The statements of `distributionPlan` as a script; changes nothing. */
export const printDistribution = (directUrl: string): Promise<string> =>
  connected(directUrl, async (client) => (await distributionPlan(client)).map((line) => `${line};\n`).join(''));

/**
 * Distributes the tables of a database by tenant. Each statement is its own transaction: after a failure the next call
 * goes on where this one ended. Tables that are placed already are left as they are.
 * @param directUrl a login that owns the tables, to the coordinator itself.
 * @returns the tables that were placed now.
 * @throws DistributionError when the database does not have the extension.
 */
export const distribute = (directUrl: string): Promise<string[]> =>
  connected(directUrl, async (client) => {
    if (!(await hasExtension(client))) throw new DistributionError(await missing(client));
    const before = await readTables(client);
    for (const statement of await distributionPlan(client)) await client.query(statement);
    const after = await readTables(client);
    const known = new Set(before.filter(({ placed }) => placed).map(({ name }) => name));
    return after.filter(({ name, placed }) => placed && !known.has(name)).map(({ name }) => name);
  });

async function missing(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query("select from pg_available_extensions where name = 'citus'");
  const first =
    rows.length > 0
      ? 'run "create extension citus" in this database on every node'
      : 'the server does not offer it: tables can only be distributed on a PostgreSQL with Citus';
  return `this database does not have the extension "citus": ${first} (docs/scale.md)`;
}

async function connected<T>(directUrl: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: directUrl, application_name: 'pipeline:distribute' });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
