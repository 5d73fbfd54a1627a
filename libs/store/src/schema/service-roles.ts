import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { SCHEMA } from '../driver/connection.ts';
import type { Db } from '../driver/database.ts';

/** Purpose of each role; its name is the prefix, an underscore and this word. */
const KINDS = ['owner', 'hosted_api', 'monitor'] as const;
type Kind = (typeof KINDS)[number];
export type ServiceKind = Exclude<Kind, 'owner'>;

export const DEFAULT_ROLE_PREFIX = 'pipeline';
export const ROLE_PREFIX = /^[a-z][a-z0-9_]{0,40}$/;

interface RoleOptions {
  /** Letters, digits and underscores; keeps deployments that share a server apart. Default `pipeline`. */
  prefix?: string | undefined;
  /** Services that log in as their role, with these passwords. Without one a role cannot log in and is granted to others. */
  passwords?: Partial<Record<ServiceKind, string>>;
}

export interface RoleReport {
  /** Service roles that hold data rights on the schema. */
  granted: string[];
  /** Roles that do not exist and that this login may not create. */
  missing: string[];
  /** The role that owns the schema and its objects. */
  owner: string;
}

export const roleName = (kind: Kind, prefix = DEFAULT_ROLE_PREFIX): string => `${prefix}_${kind}`;

/** Rights of a service on a table that is not named below. */
const DATA_RIGHTS = 'select, insert, update, delete';

const MIGRATIONS = { schema_migrations: 'select', schema_migrations_lock: 'select' };

/**
 * Tables on which a service has fewer rights, with these rights as GRANT names them. The hosted API is reached from the
 * internet: what it does not write itself, administrators and the monitor write. It reads `users.password_hash`, because
 * users log in there, and adds users who accept an invitation.
 */
const LIMITED_RIGHTS: Record<ServiceKind, Readonly<Record<string, string>>> = {
  hosted_api: {
    ...MIGRATIONS,
    agent_restarts: 'select',
    audit_log: 'insert',
    closed_facts: 'select',
    commit_checks: 'select',
    kpi_snapshots: 'select',
    leaders: 'select',
    loop_problems: 'select',
    model_prices: 'select',
    projection_attempts: 'select',
    repo_grants: 'select',
    repo_sync: 'select',
    repos: 'select',
    seen_remarks: 'select',
    settings: 'select',
    strategy_automation: 'select',
    strategy_charters: 'select',
    strategy_runs: 'select',
    strategy_snapshots: 'select',
    stream_counter: 'select',
    stream_events: 'select',
    tenants: 'select',
    trace_cursor: 'select',
    track_prompts: 'select',
    tracks: 'select',
    users: 'select, insert',
    worker_tokens: 'select, update (last_used_at)',
    workflow_snapshots: 'select',
  },
  monitor: { ...MIGRATIONS, audit_log: 'select, insert' },
};
/** Functions that run with their owner's rights, and which service may call them. */
const OWNER_FUNCTIONS = ['create_month_partition(text, text)', 'drop_month_partition(text, text)'];

const ATTEMPTS = 5;

/**
 * Creates the roles of the schema where the login may, gives the schema and its objects to the owner role, and grants each
 * service role data rights alone. Idempotent; runs after every migration, so that new tables are covered and a restored
 * dump is repaired. Roles belong to the whole server: another database may create the same ones at the same time.
 * @throws Error when a password was given for a role that cannot be created or changed.
 */
export async function applyRoles(directUrl: string, options: RoleOptions = {}): Promise<RoleReport> {
  const prefix = options.prefix ?? DEFAULT_ROLE_PREFIX;
  if (!ROLE_PREFIX.test(prefix)) throw new TypeError(`role prefix "${prefix}" must match ${ROLE_PREFIX.source}`);
  const client = new pg.Client({ connectionString: directUrl, application_name: 'pipeline:roles' });
  await client.connect();
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await inOneTransaction(client, () => apply(client, prefix, options.passwords ?? {}));
      } catch (error) {
        if (attempt === ATTEMPTS || !isConcurrentChange(error)) throw error;
      }
    }
  } finally {
    await client.end();
  }
}

async function inOneTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Two sessions changed the same shared catalogue row, or created the same role. */
const isConcurrentChange = (error: unknown): boolean => {
  const { code, message } = Object(error) as { code?: string; message?: string };
  if (code === '23505' || code === '42710' || code === '40P01') return true;
  return code === 'XX000' && /tuple concurrently (updated|deleted)/.test(message ?? '');
};

type Passwords = NonNullable<RoleOptions['passwords']>;

async function apply(client: pg.Client, prefix: string, passwords: Passwords): Promise<RoleReport> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('pipeline.roles', 0))`);
  const missing = await createRoles(client, prefix);
  const exists = (kind: Kind) => !missing.includes(roleName(kind, prefix));
  for (const [kind, password] of Object.entries(passwords)) {
    await allowLogin(client, roleName(kind as ServiceKind, prefix), password);
  }
  if (exists('owner')) await giveToOwner(client, roleName('owner', prefix));
  const granted: string[] = [];
  for (const kind of ['hosted_api', 'monitor'] as const) {
    if (!exists(kind)) continue;
    const role = roleName(kind, prefix);
    await grantDataRights(client, role, LIMITED_RIGHTS[kind]);
    if (kind === 'monitor') await grantFunctions(client, role);
    granted.push(role);
  }
  return { granted, missing, owner: await schemaOwner(client) };
}

/** @returns the roles that are still missing, because the login may not create roles. */
async function createRoles(client: pg.Client, prefix: string): Promise<string[]> {
  const wanted = KINDS.map((kind) => roleName(kind, prefix));
  const { rows } = await client.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = any($1)',
    [wanted],
  );
  const missing = wanted.filter((role) => !rows.some(({ name }) => name === role));
  if (missing.length === 0 || !(await mayCreateRoles(client))) return missing;
  for (const role of missing) await client.query(`create role ${quoted(role)} nologin`);
  // The migrating login acts for the owner. A superuser does so already; any other creator may grant the role to
  // itself.
  const owner = roleName('owner', prefix);
  if (missing.includes(owner)) await client.query(`grant ${quoted(owner)} to current_user`);
  return [];
}

async function mayCreateRoles(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    'select rolsuper or rolcreaterole as may from pg_roles where rolname = current_user',
  );
  return rows[0]?.may === true;
}

/** The server receives a SCRAM verifier, so that the password is in no statement and no log. */
async function allowLogin(client: pg.Client, role: string, password: string): Promise<void> {
  try {
    await client.query(`alter role ${quoted(role)} login password '${scramVerifier(password)}'`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`this login cannot set the password of the role ${role}: ${why}`, { cause });
  }
}

/** RFC 5803, as Postgres stores it. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const iterations = 4_096;
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`;
}

/** The schema first: an owner of its objects must be allowed to create there. */
const OBJECTS = `
  select 0 as rank, format('schema %I', nspname) as object from pg_namespace
  where oid = $1::regnamespace and nspowner <> $2::regrole
  union all
  select 1, format('%s pipeline.%I', case c.relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end, c.relname)
  from pg_class c
  where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p', 'S', 'v') and c.relowner <> $2::regrole
    -- A sequence that belongs to a column changes hands with its table.
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('a', 'i') and d.refobjsubid > 0)
  union all
  select 1, format('function %s', p.oid::regprocedure) from pg_proc p
  where p.pronamespace = $1::regnamespace and p.proowner <> $2::regrole
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  order by 1`;

/**
 * Only a superuser, or a member of the owner role, may change the owner; any other migrator keeps what it has created
 * and is the owner itself.
 */
async function giveToOwner(client: pg.Client, owner: string): Promise<void> {
  const { rows: members } = await client.query<{ member: boolean }>(
    `select pg_has_role(current_user, $1, 'member') as member`,
    [owner],
  );
  if (members[0]?.member !== true) return;
  const { rows } = await client.query<{ object: string }>(OBJECTS, [SCHEMA, quoted(owner)]);
  if (rows.length === 0) return;
  await client.query(rows.map(({ object }) => `alter ${object} owner to ${quoted(owner)}`).join(';\n'));
}

/**
 * Replaces the rights of a role on all tables. The tables are named one by one: a distributed store does not expand ALL
 * TABLES on its nodes.
 */
async function grantDataRights(
  client: pg.Client,
  role: string,
  limited: Readonly<Record<string, string>>,
): Promise<void> {
  const to = quoted(role);
  const tables = await namesOf(client, ['r', 'p', 'v']);
  const sequences = await namesOf(client, ['S']);
  await client.query(`grant usage on schema ${SCHEMA} to ${to}`);
  if (tables.length > 0) await client.query(`revoke all on ${tables.join(', ')} from ${to}`);
  const rightsOn = (table: string) => limited[table.slice('pipeline.'.length)] ?? DATA_RIGHTS;
  for (const [rights, names] of Map.groupBy(tables, rightsOn))
    await client.query(`grant ${rights} on ${names.join(', ')} to ${to}`);
  if (sequences.length > 0) await client.query(`grant usage, select on sequence ${sequences.join(', ')} to ${to}`);
}

async function namesOf(client: pg.Client, kinds: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format('pipeline.%I', relname) as name from pg_class
     where relnamespace = $1::regnamespace and relkind::text = any($2) order by 1`,
    [SCHEMA, kinds],
  );
  return rows.map(({ name }) => name);
}

/** Those that the schema has: an older one lacks them. */
async function grantFunctions(client: pg.Client, role: string): Promise<void> {
  for (const signature of OWNER_FUNCTIONS) {
    const { rows } = await client.query<{ there: boolean }>('select to_regprocedure($1) is not null as there', [
      `${SCHEMA}.${signature}`,
    ]);
    if (rows[0]?.there) await client.query(`grant execute on function ${SCHEMA}.${signature} to ${quoted(role)}`);
  }
}

async function schemaOwner(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ owner: string }>(
    'select nspowner::regrole::text as owner from pg_namespace where oid = $1::regnamespace',
    [SCHEMA],
  );
  return rows[0]?.owner ?? '';
}

/** Returns whether the login of these connections may change the schema, which no service needs. One short query. */
export async function mayChangeSchema(db: Db): Promise<boolean> {
  const { rows } = await db.executeQuery<{ may: boolean }>(
    CompiledQuery.raw(`select has_schema_privilege($1, 'CREATE') as may`, [SCHEMA]),
  );
  return rows[0]?.may === true;
}

const quoted = (name: string): string => pg.escapeIdentifier(name);
