import type { TaskType, WorkerStatus } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared, preparedWrite } from '../driver/prepared.ts';

/** A task that a worker holds. */
export interface HeldTask {
  id: string;
  task_type: TaskType;
  /** 0 = a task without an issue. */
  issue_number: number;
  owner: string;
  name: string;
}

/** More than a worker holds: the oldest one beside those that end now is all that its status shows. */
const MOST_HELD = sql.lit(100);

type Part = RawBuilder<unknown>;

/** The tasks that a worker holds, oldest first, as a JSON list (index tasks_of_worker); null = none. */
export const heldBy = (workerId: Part, tenantId: Part): RawBuilder<HeldTask[] | null> => sql`(
      select json_agg(held) from (
        select t.id, t.task_type, t.issue_number, r.owner, r.name
        from tasks t join repos r on r.tenant_id = ${tenantId} and r.id = t.repo_id
        where t.tenant_id = ${tenantId} and t.claimed_by = ${workerId} and t.status = 'claimed'
        order by t.claimed_at limit ${MOST_HELD}
      ) held)`;

const ofWorkers = prepared(
  'held-by-workers',
  (_db, p: Params<{ tenantId: number; ids: readonly string[] }>) => sql<{ id: string; held: HeldTask[] | null }>`
    select wanted.id, ${heldBy(sql`wanted.id`, p('tenantId'))} as held
    from unnest((select ${p('ids')}::text[])) as wanted (id)`,
);

/** The tasks of workers that an earlier statement locked, oldest first, by the id of the worker. */
export async function heldByWorkers(
  tx: Tx,
  tenantId: number,
  ids: readonly string[],
): Promise<Map<string, HeldTask[]>> {
  const rows = await ofWorkers.all(tx, { tenantId, ids });
  return new Map(rows.map(({ id, held }) => [id, held ?? []]));
}

interface Presence {
  id: string;
  status: WorkerStatus;
  /** Whether it ends with its current task. */
  finishing: boolean;
}

interface PresenceColumns {
  tenantId: number;
  ids: readonly string[];
  statuses: readonly string[];
  finishing: readonly boolean[];
  alive: boolean;
}

const present = preparedWrite(
  'set-presence',
  (_db, p: Params<PresenceColumns>) => sql`
    update workers w set finishing = n.finishing, status = n.status,
      left_at = case when ${p('alive')}::boolean then null else w.left_at end,
      last_heartbeat_at = case when ${p('alive')}::boolean then n.now else w.last_heartbeat_at end
    from (
      select given.id, given.status, given.finishing, svc_now() as now
      from unnest((select ${p('ids')}::text[]), (select ${p('statuses')}::text[]), (select ${p('finishing')}::boolean[]))
        as given (id, status, finishing)
    ) n
    where w.tenant_id = ${p('tenantId')} and w.id = n.id`,
);

/**
 * Sets the status of locked workers.
 * @param alive they themselves sent a request: they are present again from now on.
 */
export async function setPresence(
  tx: Tx,
  tenantId: number,
  workers: readonly Presence[],
  alive: boolean,
): Promise<void> {
  if (workers.length === 0) return;
  await present.run(tx, {
    tenantId,
    ids: workers.map(({ id }) => id),
    statuses: workers.map(({ status }) => status),
    finishing: workers.map(({ finishing }) => finishing),
    alive,
  });
}
