import { sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

export interface Utilization {
  tenant_id: number;
  worker_id: string;
  online_ms: number;
  busy_ms: number;
}

/**
 * Presence and busy time of each worker on the floor in a window that ends now. Busy means at least one claim; a
 * withdrawn or lost claim counts until its lease ended. Runs are searched from a day before the window. Cost: the runs
 * of these workers in that time, by index runs_of_worker.
 */
export async function utilization(fleet: Db, windowMs: number): Promise<Utilization[]> {
  const { rows } = await sql<Utilization>`
    ${fleetNote('operators see all tenants')}
    select w.tenant_id, w.id as worker_id, ${total(sql`o.there`)} as online_ms,
      ${total(sql`o.there * b.held`)} as busy_ms
    from workers w
    cross join (select tstzmultirange(tstzrange(svc_now() - ${msInterval(windowMs)}, svc_now())) as period) win
    cross join lateral (
      select coalesce(range_agg(tstzrange(p.started_at, greatest(p.started_at, coalesce(p.ended_at, svc_now())))), '{}')
        * win.period as there
      from worker_periods p
      where p.tenant_id = w.tenant_id and p.worker_id = w.id and p.kind = 'online'
        and (p.ended_at is null or p.ended_at > svc_now() - ${msInterval(windowMs)})
    ) o
    cross join lateral (
      select coalesce(range_agg(tstzrange(r.claimed_at,
        greatest(r.claimed_at, coalesce(r.finished_at, least(r.lease_expires_at, svc_now()))))), '{}') as held
      from runs r
      where r.tenant_id = w.tenant_id and r.worker_id = w.id
        and r.claimed_at > svc_now() - ${msInterval(windowMs)} - interval '1 day'
    ) b
    where w.left_at is null`.execute(fleet);
  return rows;
}

const total = (ranges: ReturnType<typeof sql>) => sql`
  (select coalesce(sum(extract(epoch from upper(r) - lower(r))), 0)::float8 * 1000 from unnest(${ranges}) r)`;
