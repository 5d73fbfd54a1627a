import type { TaskType } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

interface TaskTypeDepth {
  taskType: TaskType;
  pending: number;
  claimed: number;
  oldestPendingAgeMs: number | null;
}

/** Live tasks of enabled repos by type, those that have any. Costs the live tasks once: it grows with the backlog, not with history. */
export async function depthByTaskType(fleet: Db): Promise<TaskTypeDepth[]> {
  const { rows } = await sql<TaskTypeDepth>`
    ${fleetNote('operators see all tenants')}
    select t.task_type as "taskType", count(*) filter (where t.status = 'pending') as pending,
      count(*) filter (where t.status = 'claimed') as claimed,
      (extract(epoch from svc_now() - min(t.created_at) filter (where t.status = 'pending')) * 1000)::bigint
        as "oldestPendingAgeMs"
    from tasks t
    join repos r on r.tenant_id = t.tenant_id and r.id = t.repo_id and r.enabled
    group by t.task_type`.execute(fleet);
  return rows;
}

/** Waiting tasks by repo, those that have any: an index-only scan of what waits (tasks_turn_in_repo). */
export async function pendingByRepo(fleet: Db): Promise<{ tenant_id: number; slug_key: string; pending: number }[]> {
  const { rows } = await sql<{ tenant_id: number; slug_key: string; pending: number }>`
    ${fleetNote('operators see all tenants')}
    select r.tenant_id, r.slug_key, t.pending
    from (select tenant_id, repo_id, count(*) as pending from tasks where status = 'pending' group by 1, 2) t
    join repos r on r.tenant_id = t.tenant_id and r.id = t.repo_id and r.enabled`.execute(fleet);
  return rows;
}

/** Pending and failed host writes of enabled repos (interface: Write queue). */
export async function writeQueueDepth(fleet: Db): Promise<{ depth: number; failed: number }> {
  const { rows } = await sql<{ depth: number; failed: number }>`
    ${fleetNote('operators see all tenants')}
    select count(*) as depth, count(*) filter (where p.status = 'failed') as failed
    from projections p
    join repos r on r.tenant_id = p.tenant_id and r.id = p.repo_id and r.enabled
    where p.status in ('pending', 'failed')`.execute(fleet);
  return rows[0] ?? { depth: 0, failed: 0 };
}

interface RepoWrites {
  tenantId: number;
  repoId: number;
  /** Slug. */
  repo: string;
  status: 'pending' | 'failed';
  count: number;
}

/** The same by repo and status. Costs the open entries (index projections_open). */
export async function writeQueueByRepo(fleet: Db): Promise<RepoWrites[]> {
  const { rows } = await sql<RepoWrites>`
    ${fleetNote('operators see all tenants')}
    select p.tenant_id as "tenantId", p.repo_id as "repoId", r.owner || '/' || r.name as repo, p.status, p.count
    from (
      select tenant_id, repo_id, status, count(*) as count from projections
      where status in ('pending', 'failed') group by 1, 2, 3
    ) p
    join repos r on r.tenant_id = p.tenant_id and r.id = p.repo_id and r.enabled`.execute(fleet);
  return rows;
}
