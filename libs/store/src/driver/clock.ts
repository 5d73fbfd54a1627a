import { type RawBuilder, sql } from 'kysely';
import type { Db } from './database.ts';

/** The store's clock: one for all processes, which tests can stop. */
export const svcNow = sql<string>`svc_now()`;

/**
 * The store's clock as the relation `n (now)` of an UPDATE. A distributed PostgreSQL refuses a call of the clock inside
 * CASE or COALESCE of a write; a column it accepts.
 */
export const CURRENT_TIME = sql<{ now: string }>`(select svc_now() as now)`.as<'n'>('n');

export const msInterval = (ms: number): RawBuilder<string> => sql<string>`${`${ms} ms`}::interval`;

/** A point in time `ms` milliseconds from now, by the store's clock. */
export const svcNowPlus = (ms: number): RawBuilder<string> => sql<string>`svc_now() + ${msInterval(ms)}`;

/** The current time of the store's clock. */
export async function storeTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: string }>`select svc_now() as now`.execute(db);
  return new Date(rows[0]?.now ?? Number.NaN);
}

/** The time of the store's clock in the API's format. */
export async function storeNow(db: Db): Promise<string> {
  const { now } = await db.selectNoFrom(svcNow.as('now')).executeTakeFirstOrThrow();
  return now;
}
