import { type RawBuilder, sql } from 'kysely';
import type { Db } from './database.ts';

/** The store's clock: one for all processes, and one that tests can hold. */
export const svcNow = sql<string>`svc_now()`;

export const msInterval = (ms: number): RawBuilder<string> => sql<string>`${`${ms} ms`}::interval`;

/** A point in time `ms` milliseconds from now, by the store's clock. */
export const svcNowPlus = (ms: number): RawBuilder<string> => sql<string>`svc_now() + ${msInterval(ms)}`;

/** What the store's clock answers. */
export async function storeTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: string }>`select svc_now() as now`.execute(db);
  return new Date(rows[0]?.now ?? Number.NaN);
}

/** The time of the store's clock, as it goes over the wire. */
export async function storeNow(db: Db): Promise<string> {
  const { now } = await db.selectNoFrom(svcNow.as('now')).executeTakeFirstOrThrow();
  return now;
}
