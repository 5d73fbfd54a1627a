import type { Settings } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { TaskRef } from './tasks.ts';

/** Time limits of a claim without a start, progress or heartbeat; milliseconds. */
export type ClaimLimits = Pick<Settings, 'claimToStartMs' | 'stallMs' | 'workerSilenceMs'>;

/** A locked claimed task, evaluated by the store's clock. */
export interface LockedClaim extends Selectable<DB['tasks']> {
  /** Its lease has expired, or it was not started in time. */
  overdue: boolean;
  /** Time of the last progress if that is too long ago; null = there was some. */
  stalled_since: string | null;
  /** An operator may reclaim it: lease expired, no progress, or a silent worker. */
  stuck: boolean;
}

const isOverdue = (claimToStartMs: number) => sql<boolean>`
  (lease_expires_at < svc_now()
    or (started_at is null and claimed_at < svc_now() - ${msInterval(claimToStartMs)}))`;

const isStalled = (stallMs: number) => sql<boolean>`(progress_at < svc_now() - ${msInterval(stallMs)})`;

/** Claims with an expired lease or not started in time: candidates only, the caller checks each again. */
export const expiredClaims = (fleet: Db, claimToStartMs: number, limit: number): Promise<TaskRef[]> =>
  fleet
    .selectFrom('tasks')
    .modifyFront(fleetNote('upkeep of every queue'))
    .select(['tenant_id', 'id', 'run_id', 'issue_id'])
    .where('status', '=', 'claimed')
    .where(isOverdue(claimToStartMs))
    .limit(limit)
    .execute();

/** Claims without progress for that long: candidates only. Costs the claimed tasks, about one row per worker. */
export const stalledClaims = (fleet: Db, stallMs: number, limit: number): Promise<TaskRef[]> =>
  fleet
    .selectFrom('tasks')
    .modifyFront(fleetNote('upkeep of every queue'))
    .select(['tenant_id', 'id', 'run_id', 'issue_id'])
    .where('status', '=', 'claimed')
    .where(isStalled(stallMs))
    .limit(limit)
    .execute();

export const lockClaimedTask = (
  tx: Tx,
  tenantId: number,
  claim: { taskId: string; runId: number },
  limits: ClaimLimits,
): Promise<LockedClaim | undefined> =>
  tx
    .selectFrom('tasks')
    .selectAll()
    .select([
      isOverdue(limits.claimToStartMs).as('overdue'),
      sql<
        string | null
      >`case when ${isStalled(limits.stallMs)} then progress_at + ${msInterval(limits.stallMs)} end`.as(
        'stalled_since',
      ),
      sql<boolean>`lease_expires_at < svc_now() or ${isStalled(limits.stallMs)} or exists (
        select from workers w
        where w.tenant_id = ${tenantId} and w.id = tasks.claimed_by
          and w.last_heartbeat_at < svc_now() - ${msInterval(limits.workerSilenceMs)})`.as('stuck'),
    ])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', claim.taskId)
    .where('run_id', '=', claim.runId)
    .where('status', '=', 'claimed')
    .forUpdate()
    .executeTakeFirst();

const ofWorker = prepared('claims-of-worker', (db, p: Params<{ tenantId: number; workerId: string }>) =>
  db
    .selectFrom('tasks')
    .select(['id', 'run_id', 'issue_id', 'repo_id', 'issue_number', 'task_type'])
    .where('tenant_id', '=', p('tenantId'))
    .where('claimed_by', '=', p('workerId'))
    .where('status', '=', sql.lit('claimed'))
    .orderBy('claimed_at'),
);

/** Tasks that a worker holds now, oldest first (index tasks_of_worker). */
export const claimsOfWorker = (db: Db, tenantId: number, workerId: string) => ofWorker.all(db, { tenantId, workerId });
