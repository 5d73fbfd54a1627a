import { CompiledQuery, type DatabaseConnection, type Driver, Kysely } from 'kysely';
import type { CustomTypesConfig } from 'pg';
import pg from 'pg';
import type { DB } from './database.generated.ts';
import type { Db } from './database.ts';
import { PipeliningDriver } from './pipelining.ts';
import { ReplicaDriver, ReplicaState } from './replica-driver.ts';
import { type ServerInUse, Servers, serverClient, tryingEach } from './servers.ts';
import { dialectOf, SharingDriver } from './sharing.ts';
import { type StatementListener, statementClient } from './statement-client.ts';

type Parse = (text: string) => unknown;

const parseDate = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);

// Arrays have oids of their own, and pg has no names for them.
const TEXT_ARRAY = 1009 as number;
const parseTexts = pg.types.getTypeParser(TEXT_ARRAY);
const arrayOf =
  (parse: Parse): Parse =>
  (text) =>
    (parseTexts(text) as (string | null)[]).map((item) => (item === null ? null : parse(item)));

const verbatim: Parse = (text) => text;

/** Parsers by type oid. */
const PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [pg.types.builtins.INT8, parseNumber],
  [1016, arrayOf(parseNumber)],
  [pg.types.builtins.NUMERIC, parseNumber],
  [1231, arrayOf(parseNumber)],
  [pg.types.builtins.TIMESTAMPTZ, parseTimestamptz],
  [1185, arrayOf(parseTimestamptz)],
  [pg.types.builtins.DATE, verbatim],
  [1182, arrayOf(verbatim)],
]);

/**
 * Parsers that convert column values to JavaScript values, for one pool (nothing global is changed):
 * int8 and numeric -> number (saturated at ±2^53 - 1), timestamptz -> ISO 8601 string, date -> `YYYY-MM-DD`.
 */
const columnTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    const own = format === 'binary' ? undefined : PARSERS.get(oid);
    return own ?? pg.types.getTypeParser(oid, format as 'text');
  }) as CustomTypesConfig['getTypeParser'],
};

export interface StoreOptions {
  /**
   * `postgres://…`; may point at a PgBouncer whose `connect_query` sets search_path. Of several servers, separated by
   * commas, the primary is used.
   */
  databaseUrl: string;
  /** A replica for reads that may lag; none = the first server. */
  readUrl?: string | undefined;
  /** Shown in pg_stat_activity, with the pool's name appended. */
  applicationName: string;
  /** Connections of the tenant pool. */
  poolSize: number;
  /** Connections of the fleet pool; default a quarter of poolSize, at least 2. */
  fleetPoolSize?: number | undefined;
  /**
   * Called when a connection breaks outside of a statement, possibly twice for one connection. The pool replaces it.
   */
  onConnectionError: (error: Error) => void;
  /** Milliseconds after which the server cancels a statement; default 10,000 (tenant) and 30,000 (fleet). */
  statementTimeoutMs?: number | undefined;
  /** Milliseconds until a connection must be available, the wait for a free one included; default 5,000. */
  connectTimeoutMs?: number | undefined;
  /** Milliseconds a transaction may wait for its client; default 2,000. */
  idleInTransactionMs?: number | undefined;
  /**
   * The time that `pipeline.svc_now()` returns on these connections; null = the server's own time. Read at each
   * checkout.
   */
  clock?: (() => Date | null) | undefined;
  /** Called with each statement before it is sent; `session` is the same object for all statements of a connection. */
  onStatement?: ((pool: PoolName, text: string, session: object) => void) | undefined;
}

type PoolName = 'tenant' | 'fleet' | 'read';

/** Long, because a new connection plans each statement again, several times until the plan is kept. */
const IDLE_MS = 10 * 60_000;
/** Load balancers and address translation forget connections that are silent for a few minutes. */
const KEEP_ALIVE_MS = 30_000;

export interface Store {
  /** Statements and transactions of one tenant each; a distributed deployment forbids all others here. */
  readonly tenant: Db;
  /** Loops, dashboards and reports over all tenants. */
  readonly fleet: Db;
  /** Reads of one tenant that may lag: on the replica while it can be used (ReplicaWatch), else in the tenant pool. */
  readonly read: Db;
  /**
   * The same two pools for statements of a few probes, outside of transactions: concurrent statements share a
   * connection, which makes each cost a fraction. A slow one delays the others.
   */
  readonly quick: { readonly tenant: Db; readonly read: Db };
  /** The replica alone, whatever its state; null without one. Only ReplicaWatch uses it. */
  readonly replica: { readonly db: Db; readonly state: ReplicaState } | null;
  /** The server that accepted the last connection for writes; null before the first one. */
  readonly server: ServerInUse | null;
  /** @throws when the store cannot be reached (see isUnavailable). */
  ping(): Promise<void>;
  /** Ends the pools after the statements in flight. A second call waits for the first. */
  close(): Promise<void>;
}

/** Opens the pools of one process. No connection is made before the first statement. */
export function openStore(options: StoreOptions): Store {
  const servers = new Servers(options.databaseUrl);
  const tenant = openPool('tenant', servers, options);
  const fleet = openPool('fleet', servers, options);
  const replica = options.readUrl === undefined ? undefined : openPool('read', new Servers(options.readUrl), options);
  const state = new ReplicaState();
  const read = replica ? through(new ReplicaDriver(replica.driver, tenant.driver, state)) : tenant;
  // A Kysely that has sent nothing does not end its driver: both users of the replica's are closed.
  const pools = [tenant, fleet, ...(replica ? [replica, read] : [])];
  let closing: Promise<unknown> | undefined;
  return {
    tenant: tenant.db,
    fleet: fleet.db,
    read: read.db,
    quick: { tenant: tenant.quick, read: read.quick },
    replica: replica ? { db: replica.db, state } : null,
    get server() {
      return servers.inUse;
    },
    async ping() {
      await tenant.db.executeQuery(CompiledQuery.raw('select 1'));
    },
    async close() {
      closing ??= Promise.all(pools.flatMap(({ db, quick }) => [db.destroy(), quick.destroy()]));
      await closing;
    },
  };
}

interface Pool {
  driver: Driver;
  db: Db;
  quick: Db;
}

function openPool(name: PoolName, servers: Servers, options: StoreOptions): Pool {
  const { onStatement, clock, poolSize } = options;
  const fleet = name === 'fleet';
  const listener: StatementListener | undefined = onStatement && ((text, session) => onStatement(name, text, session));
  const pool = new pg.Pool({
    connectionString: withSearchPath(servers.url),
    application_name: `${options.applicationName}:${name}`,
    max: fleet ? (options.fleetPoolSize ?? Math.max(2, Math.ceil(poolSize / 4))) : poolSize,
    statement_timeout: options.statementTimeoutMs ?? (fleet ? 30_000 : 10_000),
    idle_in_transaction_session_timeout: options.idleInTransactionMs ?? 2_000,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: columnTypes,
    pipeline: true,
    Client: serverClient(statementClient(listener), servers, name === 'read' ? 'any' : 'primary'),
  });
  // A connection may break while a transaction holds it between two statements. The pool listens only to idle ones, and
  // an error without listener ends the process; so each connection has its own listener.
  pool.on('connect', (client) => client.on('error', options.onConnectionError));
  pool.on('error', () => {});
  const driver = new PipeliningDriver({
    pool: tryingEach(pool, servers),
    ...(clock && { onReserveConnection: timeTeller(clock) }),
  });
  return { driver, ...through(driver) };
}

/** Statements through a driver, each on a connection of its own, or concurrent ones on a shared one. */
function through(driver: Driver): Omit<Pool, 'driver'> {
  const on = (one: Driver) => new Kysely<DB>({ dialect: dialectOf(one) });
  return { db: on(driver), quick: on(new SharingDriver(driver)) };
}

const SET_NOW = `select set_config('svc.now', $1, false)`;

/** Sets the time of a connection when it has changed since it was last set. */
function timeTeller(clock: () => Date | null): (connection: DatabaseConnection) => Promise<void> {
  const sent = new WeakMap<DatabaseConnection, string>();
  return async (connection) => {
    const now = clock()?.toISOString() ?? '';
    if (now === (sent.get(connection) ?? '')) return;
    // A broken connection is ignored here: the next statement fails, and returns it to the pool as broken.
    const heard = await connection.executeQuery(CompiledQuery.raw(SET_NOW, [now])).catch(() => null);
    if (heard) sent.set(connection, now);
  };
}

export const SCHEMA = 'pipeline';

/**
 * The store's tables are in a schema of their own and its statements name them without prefix, so each connection
 * starts with that search path. Options in the URL are kept. Of several servers the first one is kept.
 * @throws TypeError when the text is no URL.
 */
export function withSearchPath(databaseUrl: string): string {
  const url = new URL(new Servers(databaseUrl).url);
  const own = `-c search_path=${SCHEMA},public`;
  url.searchParams.set('options', [url.searchParams.get('options'), own].filter(Boolean).join(' '));
  return url.href;
}

/**
 * int8 and numeric: the nearest double, saturated at ±9007199254740991 (2^53 - 1), the greatest number that JSON carries
 * exactly. Only sums reach it: ids come from sequences. A read never fails because a stored number is large. Fractions
 * may round; money keeps its six digits up to 10^9.
 */
function parseNumber(text: string): number {
  const value = Number(text);
  if (Number.isNaN(value)) throw new RangeError(`numeric ${text} does not fit a JavaScript number`);
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value));
}

/** timestamptz: ISO 8601 in UTC with milliseconds, the form in which every time goes over the wire. */
function parseTimestamptz(text: string): string {
  const date: unknown = parseDate(text);
  if (!(date instanceof Date)) throw new RangeError(`timestamptz ${text} is out of range`);
  return date.toISOString();
}
