import type { WorkerPeriodKind } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** Starts a period of a worker whose row the caller has locked; a running one continues. */
export async function openPeriod(
  tx: Tx,
  tenantId: number,
  workerId: string,
  period: { kind: WorkerPeriodKind; startedAt?: string },
): Promise<void> {
  const startedAt = period.startedAt === undefined ? svcNow : sql<string>`${period.startedAt}::timestamptz`;
  // A period may start at the instant in which the previous one ended: then it is continued.
  await sql`
    insert into worker_periods (tenant_id, worker_id, kind, started_at)
    select ${tenantId}, ${workerId}, ${period.kind}, ${startedAt}
    where not exists (
      select from worker_periods
      where tenant_id = ${tenantId} and worker_id = ${workerId} and kind = ${period.kind} and ended_at is null)
    on conflict (tenant_id, worker_id, kind, started_at) do update set ended_at = null`.execute(tx);
}

/** Ends those of these periods that run, now or at the given time, but never before they began. */
export async function closePeriods(
  tx: Tx,
  tenantId: number,
  workerId: string,
  end: { kinds: readonly WorkerPeriodKind[]; at?: string },
): Promise<void> {
  const at = end.at === undefined ? svcNow : sql<string>`${end.at}::timestamptz`;
  await tx
    .updateTable('worker_periods')
    .set((eb) => ({ ended_at: eb.fn('greatest', ['started_at', at]) }))
    .where('tenant_id', '=', tenantId)
    .where('worker_id', '=', workerId)
    .where('kind', 'in', end.kinds)
    .where('ended_at', 'is', null)
    .execute();
}

/** A longer period is known by then, and must not mark the whole week as degraded. */
const COUNTED_AT_MOST = '1 hour';

/**
 * Seconds since then with at least one worker silent or stalled, over the whole fleet (interface: Weekly reliability).
 * Cost: the degraded periods that began since then, or in the hour before.
 */
export async function degradedSeconds(fleet: Db, since: string): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    ${fleetNote('the fleet is one')}
    select coalesce(sum(extract(epoch from upper(r) - lower(r))), 0)::float8 as seconds
    from unnest((
      select range_agg(tstzrange(
        greatest(started_at, ${since}::timestamptz),
        greatest(started_at, ${since}::timestamptz,
          least(coalesce(ended_at, svc_now()), svc_now(), started_at + ${COUNTED_AT_MOST}::interval))))
      from worker_periods
      where kind <> 'online' and started_at > ${since}::timestamptz - ${COUNTED_AT_MOST}::interval
    )) r`.execute(fleet);
  return rows[0]?.seconds ?? 0;
}
