import { type RawBuilder, sql } from 'kysely';

/** Each is sixteen times as long as the one before; the last has no beginning. */
const WINDOWS = ['1 minute', '16 minutes', '4 hours', '3 days', '48 days', 'infinity'] as const;

/**
 * Reads the newest rows of all tenants: windows of time before `until`, each longer than the last, until one of them
 * holds enough rows. A window is a range of the index (tenant_id, time) of each tenant, so the cost is a small multiple
 * of the rows wanted plus a probe for each tenant and window, whatever the history. One probe of the newest rows of
 * each tenant would need a subquery with a limit for each, which a distributed store refuses.
 * @param until an expression; null = now.
 * @param read selects with this lower bound of the time, inclusive; null = none.
 * @returns the rows of the first window that holds `wanted` of them, else all.
 */
export async function newestRows<R>(
  until: RawBuilder<unknown> | null,
  wanted: number,
  read: (from: RawBuilder<unknown> | null) => Promise<R[]>,
): Promise<R[]> {
  for (const window of WINDOWS) {
    const from = window === 'infinity' ? null : sql`(${until ?? sql`svc_now()`} - ${window}::interval)`;
    const rows = await read(from);
    if (from === null || rows.length >= wanted) return rows;
  }
  return [];
}
