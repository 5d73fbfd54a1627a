import { ANY_AGENT } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { SERVES } from './tasks-without-worker.ts';

const any = sql.lit(ANY_AGENT);

/** A claimable task, for a row `t` of tasks, that has waited that long while no worker with its agent is online. */
const isStranded = (waitMs: number, tenant: RawBuilder<unknown>) => sql<boolean>`
  t.compared_agent <> ${any} and t.status = 'pending' and t.held is null
  and t.ready_at < svc_now() - ${msInterval(waitMs)}
  and not exists (
    select from workers w join repos r on r.tenant_id = ${tenant} and r.id = t.repo_id
    where w.tenant_id = ${tenant} and w.left_at is null and w.status <> 'offline' and not w.draining
      and t.compared_agent = any(w.agents) and ${SERVES})`;

export interface StrandedTask {
  tenant_id: number;
  id: string;
  repo: string;
  issue_number: number;
  task_type: string;
  compared_agent: string;
}

/**
 * Compared tasks that no worker can claim: candidates only. Costs the waiting compared tasks (index tasks_compared) and
 * the workers on the floor of their tenants (index workers_on_floor).
 */
export async function strandedTasks(fleet: Db, waitMs: number, limit: number): Promise<StrandedTask[]> {
  const { rows } = await sql<StrandedTask>`
    ${fleetNote('upkeep of every queue')}
    select t.tenant_id, t.id, o.owner || '/' || o.name as repo, t.issue_number, t.task_type, t.compared_agent
    from tasks t join repos o on o.tenant_id = t.tenant_id and o.id = t.repo_id
    where ${isStranded(waitMs, sql`t.tenant_id`)}
    order by t.ready_at limit ${limit}`.execute(fleet);
  return rows;
}

/** Gives such a task to any agent. @returns whether it was still stranded. */
export async function releaseStrandedTask(
  db: Db,
  { tenantId, taskId }: { tenantId: number; taskId: string },
  waitMs: number,
): Promise<boolean> {
  const { rows } = await sql`
    update tasks t set compared_agent = ${any}
    where t.tenant_id = ${tenantId} and t.id = ${taskId} and ${isStranded(waitMs, sql`${tenantId}`)}
    returning t.id`.execute(db);
  return rows.length > 0;
}
