import { type RawBuilder, sql, type UpdateObject } from 'kysely';
import type { Db } from './connection.ts';
import type { DB } from './database.generated.ts';

/** Columns to change in a table; values may be expressions, such as the store's clock. */
export type Change<T extends keyof DB> = UpdateObject<DB, T, T>;

/** A value for a jsonb column. pg would send a JavaScript array as a Postgres array, so it is serialised here. */
export const jsonb = <T>(value: T): RawBuilder<T> => sql<T>`${JSON.stringify(value)}::jsonb`;

/** The store's clock: one for all processes, which tests can stop. */
export const svcNow = sql<string>`svc_now()`;

/** The current time of the store's clock. */
export async function storeTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: string }>`select svc_now() as now`.execute(db);
  return new Date(rows[0]?.now ?? Number.NaN);
}

export const msInterval = (ms: number): RawBuilder<string> => sql<string>`${`${ms} ms`}::interval`;

/** A point in time `ms` milliseconds from now, by the store's clock. */
export const svcNowPlus = (ms: number): RawBuilder<string> => sql<string>`svc_now() + ${msInterval(ms)}`;

/**
 * Marks a statement of the fleet pool that reads all tenants, with the reason. The lint of the store's statements
 * refuses one without.
 */
export const fleetNote = (reason: string): RawBuilder<unknown> => sql.raw(`/* fleet: ${reason} */`);
