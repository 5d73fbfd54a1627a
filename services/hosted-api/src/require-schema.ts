import { type Logger, StartError } from '@pipeline/runtime';
import { assertSchema, isRefusedLogin, isUnavailable, SchemaError, type Store } from '@pipeline/store';

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
    if (isRefusedLogin(error)) throw new StartError(`DATABASE_URL: ${(error as Error).message}`, { cause: error });
    if (!isUnavailable(error)) throw error;
    log.warn('the store cannot be reached yet; requests are refused until it can', { cause: String(error) });
  }
}
