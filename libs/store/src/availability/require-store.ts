import { DeadlineError } from '@pipeline/runtime/sleep';
import { StartError } from '@pipeline/runtime/start-error';
import { isRefusedLogin, isRefusedParameter, isUnavailable } from '../driver/store-errors.ts';
import { SchemaError } from '../schema/schema.ts';
import type { StoreWatch } from './store-watch.ts';

/**
 * Looks at the store before anything is served. One that cannot be reached is no reason to end: it comes back, and
 * until then requests are refused and /ready reports it.
 * @throws StartError for what an operator must correct, saying how: a schema that does not fit, a login or a pooler
 * that refuses the connection.
 */
export async function requireStore(watch: StoreWatch): Promise<void> {
  await watch.check();
  const { problem } = watch;
  if (problem === null) return;
  if (problem instanceof SchemaError) throw new StartError(problem.message, { cause: problem });
  if (isRefusedLogin(problem)) throw new StartError(`DATABASE_URL: ${problem.message}`, { cause: problem });
  if (isRefusedParameter(problem)) {
    const hint = 'PgBouncer must be 1.21 or newer, with max_prepared_statements and ignore_startup_parameters';
    throw new StartError(`DATABASE_URL: ${problem.message}: ${hint} as in deploy/pgbouncer/pgbouncer.ini`, {
      cause: problem,
    });
  }
  if (!isUnavailable(problem) && !(problem instanceof DeadlineError)) throw problem;
}
