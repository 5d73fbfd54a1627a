import type { TaskQueueEntry, TaskType } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** An entry of the queue before its duration is estimated. */
interface QueuedTask extends Omit<TaskQueueEntry, 'estimatedDurationMs'> {
  tenantId: number;
  repoId: number;
}

/** Waiting time of a task `t` until its claim, or until now; milliseconds. */
const waitMs = sql`greatest(0, extract(epoch from coalesce(t.claimed_at, svc_now()) - t.created_at) * 1000)::bigint`;

/**
 * Live tasks of the enabled repos of all tenants by priority, oldest first. Costs the live tasks once: it grows with
 * the backlog, not with history.
 */
export async function queuedTasks(fleet: Db, limit: number): Promise<QueuedTask[]> {
  const { rows } = await sql<QueuedTask>`
    ${fleetNote('operators see all tenants')}
    select t.tenant_id as "tenantId", t.repo_id as "repoId", t.id, t.task_type as "taskType",
      t.issue_number as "issueNumber", r.owner as "repoOwner", r.name as "repoName", t.status, t.priority,
      t.claimed_by as "claimedBy", t.created_at as "createdAt", t.claimed_at as "claimedAt", ${waitMs} as "waitTimeMs"
    from tasks t
    join repos r on r.tenant_id = t.tenant_id and r.id = t.repo_id and r.enabled
    order by t.priority, t.created_at, t.id
    limit ${limit}`.execute(fleet);
  return rows;
}

export interface QueuedWork {
  tenantId: number;
  repoId: number;
  taskType: TaskType;
  pending: number;
  claimed: number;
  /** Milliseconds since the oldest waiting task was enqueued, and the total waiting time of all. */
  oldestPendingAgeMs: number | null;
  pendingWaitMs: number;
}

/** Live tasks of the enabled repos of all tenants, counted by repo and type. */
export async function queuedWork(fleet: Db): Promise<QueuedWork[]> {
  const { rows } = await sql<QueuedWork>`
    ${fleetNote('operators see all tenants')}
    select t.tenant_id as "tenantId", t.repo_id as "repoId", t.task_type as "taskType",
      count(*) filter (where t.status = 'pending') as pending, count(*) filter (where t.status = 'claimed') as claimed,
      max(${waitMs}) filter (where t.status = 'pending') as "oldestPendingAgeMs",
      coalesce(sum(${waitMs}) filter (where t.status = 'pending'), 0) as "pendingWaitMs"
    from tasks t
    join repos r on r.tenant_id = t.tenant_id and r.id = t.repo_id and r.enabled
    group by 1, 2, 3`.execute(fleet);
  return rows;
}
