import { type RawBuilder, sql } from 'kysely';

const MINUTE_MS = 60_000;
/** Each is sixteen times as long as the one before; the last has no beginning. */
const WINDOWS_MS = [1, 16, 16 ** 2, 16 ** 3, 16 ** 4, Number.POSITIVE_INFINITY].map((minutes) => minutes * MINUTE_MS);

/** Total number of rows, and the time in which they were made. */
export interface RowCount {
  total: number;
  /** Milliseconds; 0 = not known. */
  withinMs: number;
}

interface Wanted {
  /** Rows of a full page, which end the search. */
  page: number;
  /** Rows before the page, which the windows must hold too. */
  offset?: number;
  /** Windows are left out that would not hold the page if rows were made evenly. */
  among?: RowCount;
}

/**
 * Reads the newest rows of all tenants: windows of time before `until`, each longer than the last, until one of them
 * holds enough rows. A window is a range of the index (tenant_id, time) of each tenant, so the cost is a small multiple
 * of the rows wanted plus a probe for each tenant and window, whatever the history. One probe of the newest rows of
 * each tenant would need a subquery with a limit for each, which a distributed store refuses.
 * @param until an expression; null = now.
 * @param read selects with this lower bound of the time, inclusive; null = none.
 * @returns the rows of the first window that holds a full page, else of all time.
 */
export async function newestRows<R>(
  until: RawBuilder<unknown> | null,
  wanted: Wanted,
  read: (from: RawBuilder<unknown> | null) => Promise<R[]>,
): Promise<R[]> {
  for (const windowMs of windowsFor(wanted)) {
    if (windowMs === Number.POSITIVE_INFINITY) return read(null);
    const rows = await read(sql`(${until ?? sql`svc_now()`} - ${`${windowMs} milliseconds`}::interval)`);
    if (rows.length >= wanted.page) return rows;
  }
  return [];
}

function windowsFor({ page, offset = 0, among }: Wanted): number[] {
  if (among === undefined) return WINDOWS_MS;
  const needed = page + offset;
  const neededMs = among.total < needed ? Number.POSITIVE_INFINITY : (among.withinMs * needed) / among.total;
  return WINDOWS_MS.filter((windowMs) => windowMs >= neededMs);
}
