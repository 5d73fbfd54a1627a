interface Coded {
  code: string;
  message: string;
}

const asCoded = (error: unknown): Coded => {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : '' };
};

const NETWORK = new Set(
  'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ENOENT'.split(' '),
);

/**
 * 08 connection, 28 authorisation and 3D000 unknown database (both only while connecting), 53300 too many connections,
 * 57P0x the server stops, starts or ended this session, 25P03 the session idled in a transaction, 25006 the server is a
 * standby: its promotion has not happened yet, or this session belongs to the former primary.
 */
const UNAVAILABLE_STATE = /^(08...|28...|3D000|53300|57P0[1-5]|25P03|25006)$/;

/** Messages of pg and its pool, without a code, when a connection was lost or unavailable. */
const UNAVAILABLE_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed)|Cannot use a pool after|driver has already been destroyed)/;

/** True when the store could not be reached or the connection broke, as opposed to a statement that was refused. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = asCoded(error);
  if (NETWORK.has(code) || UNAVAILABLE_STATE.test(code) || UNAVAILABLE_TEXT.test(message)) return true;
  return error instanceof Error && error.cause !== undefined && isUnavailable(error.cause);
}

/** True when the server cancelled the statement after statement_timeout: it is too slow, or a lock is held for long. */
export const isTimedOut = (error: unknown): boolean => asCoded(error).code === '57014';

/** True when the server refuses the login, or has no such database: waiting does not help. */
export const isRefusedLogin = (error: unknown): boolean => /^(28...|3D000)$/.test(asCoded(error).code);

/** True when a pooler refuses what each connection sets, as PgBouncer does before 1.20: waiting does not help. */
export const isRefusedParameter = (error: unknown): boolean =>
  asCoded(error).code === '08P01' && asCoded(error).message.startsWith('unsupported startup parameter');

/** True when a statement names a table, or its schema, that does not exist. */
export const isMissingTable = (error: unknown): boolean => asCoded(error).code === '42P01';

/** True when the same transaction may succeed if it is run again: serialization failure or deadlock. */
export const isRetryable = (error: unknown): boolean => ['40001', '40P01'].includes(asCoded(error).code);

/**
 * True for a duplicate key. On a distributed schema the code may be XX000 and names carry a shard's number, so
 * neither `err.constraint` nor the code alone is trusted.
 * @param constraint limits the answer to one constraint or unique index.
 */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const { code, message } = asCoded(error);
  const name = /duplicate key value violates unique constraint "([^"]+)"/.exec(message)?.[1];
  if (name === undefined || (code !== '23505' && code !== 'XX000')) return false;
  return constraint === undefined || name.replace(/_\d{6,}$/, '') === constraint;
}
