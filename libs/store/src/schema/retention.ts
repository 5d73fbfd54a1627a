import { sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** Rows per statement: short locks. */
const BATCH = 5_000;

/**
 * Deletes runs that ended longer ago, with their model calls; running ones are kept. Artefacts are kept permanently. One
 * batch, oldest first, by index runs_by_end: by the order of claims in the table itself, each batch would read the rows
 * that the batches before it deleted, and later all of those whose place new runs took.
 * @returns whether there may be more.
 */
export async function deleteOldRuns(fleet: Db, keptDays: number): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('retention')}
    with old as (
      select tenant_id, id from runs
      where finished_at < svc_now() - ${`${keptDays} days`}::interval
      order by finished_at
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
 * Deletes outbox entries that were settled longer ago, with their attempts; failed ones are kept for an operator. A
 * batch of each status, oldest first, by index projections_by_status.
 * @returns whether there may be more.
 */
export async function deleteOldProjections(fleet: Db, keptDays: number): Promise<boolean> {
  const settled = (status: 'complete' | 'discarded') => sql`
    (select tenant_id, id from projections
     where status = ${status} and updated_at < svc_now() - ${`${keptDays} days`}::interval
     order by updated_at
     limit ${sql.lit(BATCH)})`;
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('retention')}
    with old as (${settled('complete')} union all ${settled('discarded')}), gone as (
      delete from projections p using old where p.tenant_id = old.tenant_id and p.id = old.id returning 1
    )
    select count(*) as n from gone`.execute(fleet);
  return (rows[0]?.n ?? 0) >= BATCH;
}

/**
 * Deletes webhook deliveries that were handled longer ago. One batch, by index webhook_deliveries_by_end.
 * @returns whether there may be more.
 */
export async function deleteOldDeliveries(fleet: Db, keptMs: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from webhook_deliveries where delivery_id in (
      select delivery_id from webhook_deliveries
      where processed_at < svc_now() - ${msInterval(keptMs)}
      order by processed_at
      limit ${sql.lit(BATCH)}
    )`.execute(fleet);
  return Number(numAffectedRows ?? 0) === BATCH;
}

/**
 * Deletes periods of workers that ended longer ago. One batch, by index worker_periods_by_end.
 * @returns whether there may be more.
 */
export async function deleteOldPeriods(fleet: Db, keptMs: number): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('retention')}
    with old as (
      select tenant_id, worker_id, kind, started_at from worker_periods
      where ended_at < svc_now() - ${msInterval(keptMs)}
      order by ended_at
      limit ${sql.lit(BATCH)}
    ), gone as (
      delete from worker_periods p using old
      where p.tenant_id = old.tenant_id and p.worker_id = old.worker_id and p.kind = old.kind
        and p.started_at = old.started_at
      returning 1
    )
    select count(*) as n from gone`.execute(fleet);
  return rows[0]?.n === BATCH;
}

/**
 * Deletes checks that were reported longer ago, except those of the head of an open pull request, which a merge may wait
 * for. One batch, by index commit_checks_by_time.
 * @returns whether there may be more.
 */
export async function deleteOldChecks(fleet: Db, keptDays: number): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('retention')}
    with old as (
      select c.tenant_id, c.repo_id, c.sha, c.kind, c.name, c.suite_id from commit_checks c
      where c.reported_at < svc_now() - ${`${keptDays} days`}::interval
        and not exists (
          select from pull_requests p
          where p.tenant_id = c.tenant_id and p.repo_id = c.repo_id and p.head_sha = c.sha and p.state = 'open')
      order by c.reported_at
      limit ${sql.lit(BATCH)}
    ), gone as (
      delete from commit_checks c using old
      where c.tenant_id = old.tenant_id and c.repo_id = old.repo_id and c.sha = old.sha and c.kind = old.kind
        and c.name = old.name and c.suite_id = old.suite_id
      returning 1
    )
    select count(*) as n from gone`.execute(fleet);
  return rows[0]?.n === BATCH;
}

/**
 * Deletes invitations that were accepted, revoked or expired longer ago; the audit log keeps their entries. One batch, by
 * index invitations_by_end.
 * @returns whether there may be more.
 */
export async function deleteOldInvitations(fleet: Db, keptMs: number): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('retention')}
    with old as (
      select tenant_id, id from invitations
      where coalesce(accepted_at, revoked_at, expires_at) < svc_now() - ${msInterval(keptMs)}
      order by coalesce(accepted_at, revoked_at, expires_at)
      limit ${sql.lit(BATCH)}
    ), gone as (
      delete from invitations i using old where i.tenant_id = old.tenant_id and i.id = old.id returning 1
    )
    select count(*) as n from gone`.execute(fleet);
  return rows[0]?.n === BATCH;
}

/**
 * Deletes workers that left longer ago; runs keep their ids. Workers that have a new name at each start would pile up. One
 * batch, by index workers_by_end.
 * @returns whether there may be more.
 */
export async function deleteOldWorkers(fleet: Db, keptMs: number): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('retention')}
    with old as (
      select tenant_id, id, left_at from workers
      where left_at < svc_now() - ${msInterval(keptMs)}
      order by left_at
      limit ${sql.lit(BATCH)}
    ), gone as (
      delete from workers w using old
      where w.tenant_id = old.tenant_id and w.id = old.id and w.left_at = old.left_at
      returning 1
    )
    select count(*) as n from gone`.execute(fleet);
  return rows[0]?.n === BATCH;
}
