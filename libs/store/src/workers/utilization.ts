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
  // The worker of a cancelled run learns of it later; its lease ends as soon as it has acknowledged that.
  const ended = sql`case when r.status <> 'cancelled' then r.finished_at end`;
  const from = sql`svc_now() - ${msInterval(windowMs)}`;
  // Times are aggregated by worker in one relation without a lateral subquery, which a distributed store would refuse;
  // the rest of the statement reads only that relation.
  const { rows } = await sql<Utilization>`
    ${fleetNote('operators see all tenants')}
    with online as materialized (
      select p.tenant_id, p.worker_id,
        range_agg(tstzrange(p.started_at, greatest(p.started_at, coalesce(p.ended_at, svc_now())))) as there
      from worker_periods p
      where p.kind = 'online' and (p.ended_at is null or p.ended_at > ${from})
      group by p.tenant_id, p.worker_id
    ), claims as materialized (
      select v.tenant_id, v.id as worker_id, range_agg(tstzrange(r.claimed_at,
        greatest(r.claimed_at, coalesce(${ended}, least(r.lease_expires_at, svc_now()))))) as held
      from workers v join runs r on r.tenant_id = v.tenant_id and r.worker_id = v.id
      where v.left_at is null and r.claimed_at > ${from} - interval '1 day'
      group by v.tenant_id, v.id
    ), times as materialized (
      select w.tenant_id, w.id, coalesce(o.there, '{}') as there, coalesce(b.held, '{}') as held
      from workers w
      left join online o on o.tenant_id = w.tenant_id and o.worker_id = w.id
      left join claims b on b.tenant_id = w.tenant_id and b.worker_id = w.id
      where w.left_at is null
    ), present as (
      select tenant_id, id, there * tstzmultirange(tstzrange(${from}, svc_now())) as there, held from times
    )
    select tenant_id, id as worker_id, ${total(sql`there`)} as online_ms, ${total(sql`there * held`)} as busy_ms
    from present`.execute(fleet);
  return rows;
}

const total = (ranges: ReturnType<typeof sql>) => sql`
  (select coalesce(sum(extract(epoch from upper(r) - lower(r))), 0)::float8 * 1000 from unnest(${ranges}) r)`;
