import { type Logger, StartError } from '@pipeline/runtime';
import { assertSchema, isUnavailable, SchemaError, type Store } from '@pipeline/store';

/** 28 = authorisation, 3D = no such database: the server is there and DATABASE_URL is wrong. */
const REFUSED_LOGIN = /^(28|3D)/;

/**
 * Looks at the schema before anything is served. A store that cannot be reached is no reason to end: requests are
 * refused until it is back, and /ready tells.
 * @throws StartError for a schema that does not fit, saying what mends it, and for a login that the server refuses.
 */
export async function requireSchema(store: Store, log: Logger): Promise<void> {
  try {
    await assertSchema(store.fleet);
  } catch (error) {
    if (error instanceof SchemaError) throw new StartError(error.message, { cause: error });
    if (!isUnavailable(error)) throw error;
    const { code, message } = error as { code?: string; message: string };
    if (REFUSED_LOGIN.test(code ?? '')) throw new StartError(`DATABASE_URL: ${message}`, { cause: error });
    log.warn('the store cannot be reached yet; requests are refused until it can', { cause: String(error) });
  }
}
