import { isLeadershipLost, isUnavailable } from '@pipeline/store';

/** A failure of one row may be that of hundreds; the log shows the first ones. */
const MAX_REPORTED = 10;

/**
 * Handles rows one by one. A row that fails, because it is locked for long or has bad data, does not affect the others:
 * candidates of all tenants are read in the same order each time, so it would stop all work behind it for good.
 * @param what names the rows in the error message, which contains each row that failed: rows hold keys, no texts.
 * @returns what was returned for each.
 * @throws AggregateError when some failed; the others were handled. Lost leadership and an unreachable store fail every
 * row: they are thrown at once.
 */
export async function handleEach<R extends object, T>(
  what: string,
  rows: Iterable<R>,
  handle: (row: R) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  const errors: Error[] = [];
  let failed = 0;
  for (const row of rows) {
    try {
      results.push(await handle(row));
    } catch (cause) {
      if (isLeadershipLost(cause) || isUnavailable(cause)) throw cause;
      failed += 1;
      if (errors.length < MAX_REPORTED) errors.push(new Error(`failed for ${JSON.stringify(row)}`, { cause }));
    }
  }
  if (failed > 0) throw new AggregateError(errors, `${what}: ${failed} of ${failed + results.length} failed`);
  return results;
}

/** The same for rows of which some have nothing to do. @returns for how many there was something. */
export async function countHandled<R extends object>(
  what: string,
  rows: Iterable<R>,
  handle: (row: R) => Promise<boolean>,
): Promise<number> {
  return (await handleEach(what, rows, handle)).filter(Boolean).length;
}
