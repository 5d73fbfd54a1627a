import { ANY_AGENT, type TaskType, WORKER_GRACE_MS } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** True = worker `w` takes tasks of the type and repo of task `t`, whose repo is `r`. */
export const SERVES = sql<boolean>`
  t.task_type = any(w.task_types)
  and (w.repos = '{}' or exists (select from unnest(w.repos) slug where lower(slug) = r.slug_key))`;

const GRACE = msInterval(WORKER_GRACE_MS);

/** A task `t` that workers could have claimed since before the grace. */
const WAITS = sql<boolean>`t.status = 'pending' and t.held is null and t.ready_at < svc_now() - ${GRACE}`;

/** Agents do not work in other repos, so no worker would help. */
export const IS_OPEN = sql<boolean>`r.enabled and r.unavailable is null`;

/**
 * True = no worker could claim a task `t` of repo `r`. A busy worker counts, and one that ends with its current task,
 * because another usually replaces it; one that an operator drains does not.
 */
export const hasNoWorker = (tenant: RawBuilder<unknown>) => sql<boolean>`not exists (
    select from workers w
    where w.tenant_id = ${tenant} and not w.draining
      and ((w.left_at is null and w.status <> 'offline') or w.last_heartbeat_at > svc_now() - ${GRACE})
      and (t.compared_agent = ${sql.lit(ANY_AGENT)} or t.compared_agent = any(w.agents)) and ${SERVES})`;

/** True = task `t` waits and no worker could claim it. */
export const isWithoutWorker = (tenant: RawBuilder<unknown>): RawBuilder<boolean> => sql<boolean>`(
    ${WAITS} and exists (
      select from repos r where r.tenant_id = ${tenant} and r.id = t.repo_id and ${IS_OPEN} and ${hasNoWorker(tenant)}))`;

interface WithoutWorker {
  taskType: TaskType;
  count: number;
  oldestMs: number;
}

/**
 * Waiting tasks that no worker could claim, by type, those that have any. Reads the waiting tasks once, and the workers
 * of a tenant once per repo, type and agent with waiting tasks, not per task.
 */
export async function withoutWorkerByType(fleet: Db): Promise<WithoutWorker[]> {
  const { rows } = await sql<WithoutWorker>`
    ${fleetNote('operators see all tenants')}
    select t.task_type as "taskType", sum(t.count)::int as count,
      (extract(epoch from svc_now() - min(t.since)) * 1000)::bigint as "oldestMs"
    from (
      select t.tenant_id, t.repo_id, t.task_type, t.compared_agent, count(*) as count, min(t.ready_at) as since
      from tasks t where ${WAITS} group by 1, 2, 3, 4
    ) t
    join repos r on r.tenant_id = t.tenant_id and r.id = t.repo_id and ${IS_OPEN}
    where ${hasNoWorker(sql`t.tenant_id`)}
    group by t.task_type`.execute(fleet);
  return rows;
}
