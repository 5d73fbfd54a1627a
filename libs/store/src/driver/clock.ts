import { type RawBuilder, sql } from 'kysely';
import type { Db } from './database.ts';

/** The store's clock: one for all processes, which tests can stop. */
export const svcNow = sql<string>`svc_now()`;

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
