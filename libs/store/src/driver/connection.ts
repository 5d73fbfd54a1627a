import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { CustomTypesConfig } from 'pg';
import pg from 'pg';
import type { DB } from './database.generated.ts';
import type { Db } from './database.ts';
import { PipeliningDriver } from './pipelining.ts';
import { ReplicaDriver } from './replica-driver.ts';
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
  /** `postgres://…`; may point at a PgBouncer whose `connect_query` sets search_path. */
  databaseUrl: string;
  /** Replica for reads that may be seconds late; undefined = they use the same pool. */
  readUrl?: string | undefined;
  /** Shown in pg_stat_activity, with the pool's name appended. */
  applicationName: string;
  poolSize: number;
  /**
   * Called when a connection breaks outside of a statement, possibly twice for one connection. The pool replaces it.
   */
  onConnectionError: (error: Error) => void;
  /** Called when the replica refuses a connection: reads use the primary for REPLICA_REST_MS. */
  onReplicaError?: ((error: unknown) => void) | undefined;
  /** Milliseconds after which the server cancels a statement; default 10,000. */
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
  onStatement?: StatementListener | undefined;
}

/** Long, because a new connection plans each statement again, several times until the plan is kept. */
const IDLE_MS = 10 * 60_000;
/** Load balancers and address translation forget connections that are silent for a few minutes. */
const KEEP_ALIVE_MS = 30_000;

/** The pool of a process for its requests, or the one for its loops: neither takes connections from the other. */
export interface Store {
  readonly db: Db;
  /** Reads that may be seconds late: on the replica of `readUrl` while it accepts connections, otherwise `db`. */
  readonly reads: Db;
  /** False while `reads` uses the primary because the replica refused a connection; null without a replica. */
  readonly isReplicaUsed: boolean | null;
  /** @throws when the store cannot be reached (see isUnavailable). */
  ping(): Promise<void>;
  /** Ends the pools after the statements in flight. A second call waits for the first. */
  close(): Promise<void>;
}

/** Time limit of a statement of a loop: some aggregate or delete many rows. */
const LOOP_STATEMENT_TIMEOUT_MS = 30_000;

/** Opens the pool for requests, and a second one for `readUrl`. No connection is made before the first statement. */
export const openStore = (options: StoreOptions): Store => open('requests', options);

/** Opens the pool for loops. */
export const openLoopStore = (options: Omit<StoreOptions, 'readUrl'>): Store =>
  open('loops', { statementTimeoutMs: LOOP_STATEMENT_TIMEOUT_MS, ...options });

function open(name: 'requests' | 'loops', options: StoreOptions): Store {
  const { databaseUrl, readUrl } = options;
  const primary = openPool(name, databaseUrl, options);
  const db = through(primary);
  const replica = readUrl === undefined ? null : openPool('reads', readUrl, options);
  const fallback = replica && new ReplicaDriver(replica, primary, options.onReplicaError);
  const reads = fallback ? through(fallback) : db;
  let closing: Promise<unknown> | undefined;
  return {
    db,
    reads,
    get isReplicaUsed() {
      return fallback?.isUsed ?? null;
    },
    async ping() {
      await db.executeQuery(CompiledQuery.raw('select 1'));
    },
    async close() {
      closing ??= Promise.all([db.destroy(), reads.destroy()]);
      await closing;
    },
  };
}

function openPool(name: string, databaseUrl: string, options: StoreOptions): Driver {
  const { clock } = options;
  const pool = new pg.Pool({
    connectionString: withSearchPath(databaseUrl),
    application_name: `${options.applicationName}:${name}`,
    max: options.poolSize,
    statement_timeout: options.statementTimeoutMs ?? 10_000,
    idle_in_transaction_session_timeout: options.idleInTransactionMs ?? 2_000,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: columnTypes,
    pipeline: true,
    Client: statementClient(options.onStatement),
  });
  // A connection may break while a transaction holds it between two statements. The pool listens only to idle ones, and
  // an error without listener ends the process; so each connection has its own listener.
  pool.on('connect', (client) => client.on('error', options.onConnectionError));
  pool.on('error', () => {});
  return new PipeliningDriver({ pool, ...(clock && { onReserveConnection: timeTeller(clock) }) });
}

const through = (driver: Driver): Db =>
  new Kysely<DB>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });

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
 * starts with that search path. Options in the URL are kept.
 * @throws TypeError when the text is no URL.
 */
export function withSearchPath(databaseUrl: string): string {
  const url = new URL(databaseUrl);
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
