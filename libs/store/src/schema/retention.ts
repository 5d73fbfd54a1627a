import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** Rows per statement: short locks. */
const BATCH = 5_000;

/**
 * Deletes runs that were claimed longer ago, with their model calls; running ones are kept. Artefacts are kept
 * permanently. One batch, oldest first, by the index of claim times.
 * @returns whether there may be more.
 */
export async function deleteOldRuns(fleet: Db, keptDays: number): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('retention')}
    with old as (
      select tenant_id, id from runs
      where claimed_at < svc_now() - ${`${keptDays} days`}::interval and status <> 'claimed'
      limit ${sql.lit(BATCH)}
    ), calls as (
      delete from agent_invocations i using old where i.tenant_id = old.tenant_id and i.run_id = old.id
    ), gone as (
      delete from runs r using old where r.tenant_id = old.tenant_id and r.id = old.id returning 1
    )
    select count(*) as n from gone`.execute(fleet);
  return rows[0]?.n === BATCH;
}

/**
 * Deletes outbox entries that were settled longer ago, with their attempts; failed ones are kept for an operator. One
 * batch, by index projections_by_status.
 * @returns whether there may be more.
 */
export async function deleteOldProjections(fleet: Db, keptDays: number): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('retention')}
    with gone as (
      delete from projections p using (
        select tenant_id, id from projections
        where status in ('complete', 'discarded') and updated_at < svc_now() - ${`${keptDays} days`}::interval
        limit ${sql.lit(BATCH)}
      ) old where p.tenant_id = old.tenant_id and p.id = old.id returning 1
    )
    select count(*) as n from gone`.execute(fleet);
  return rows[0]?.n === BATCH;
}
