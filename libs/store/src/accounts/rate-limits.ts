import { sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';

interface Taken {
  /** Points taken in the current window, this one included. */
  points: number;
  /** Until the window ends. */
  msLeft: number;
}

/**
 * Takes one point of a key's window, which begins with the first point. One statement, so the limit applies across
 * replicas.
 */
export async function takePoint(db: Db, key: string, windowMs: number): Promise<Taken> {
  const { rows } = await sql<Taken>`
    insert into rate_limits as r (key, points, expires_at)
    values (${key}, 1, svc_now() + ${msInterval(windowMs)})
    on conflict (key) do update set
      points = case when r.expires_at <= svc_now() then 1 else r.points + 1 end,
      expires_at = case when r.expires_at <= svc_now() then excluded.expires_at else r.expires_at end
    returning points, ceil(extract(epoch from expires_at - svc_now()) * 1000)::integer as "msLeft"`.execute(db);
  const [taken] = rows;
  if (!taken) throw new Error('an upsert returned no row');
  return taken;
}

/** Gives one point back. */
export async function returnPoint(db: Db, key: string): Promise<void> {
  await db
    .updateTable('rate_limits')
    .set((eb) => ({ points: eb('points', '-', 1) }))
    .where('key', '=', key)
    .where('points', '>', 0)
    .execute();
}

/** Points taken in the current window; 0 without one. */
export async function pointsOf(db: Db, key: string): Promise<number> {
  const row = await db
    .selectFrom('rate_limits')
    .select('points')
    .where('key', '=', key)
    .where('expires_at', '>', sql<string>`svc_now()`)
    .executeTakeFirst();
  return row?.points ?? 0;
}
