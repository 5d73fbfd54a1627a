import type { TaskType, WorkerStatus } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** A task that a worker holds. */
export interface HeldTask {
  id: string;
  task_type: TaskType;
  /** 0 = a task without an issue. */
  issue_number: number;
  owner: string;
  name: string;
}

type Part = RawBuilder<unknown>;

const NONE = sql`'{}'::bigint[]`;

/**
 * The oldest task that a worker holds, as JSON (index tasks_of_worker); null = none.
 * @param except runs that end now, as an array.
 */
export const heldBy = (workerId: Part, tenantId: Part, except: Part = NONE): RawBuilder<HeldTask | null> => sql`(
      select row_to_json(held) from (
        select t.id, t.task_type, t.issue_number, r.owner, r.name
        from (
          select id, task_type, issue_number, repo_id from tasks
          where tenant_id = ${tenantId} and claimed_by = ${workerId} and status = 'claimed' and run_id <> all(${except})
          order by claimed_at limit 1
        ) t join repos r on r.tenant_id = ${tenantId} and r.id = t.repo_id
      ) held)`;

const ofWorker = prepared(
  'held-by-worker',
  (_db, p: Params<{ tenantId: number; id: string }>) => sql<{ held: HeldTask | null }>`
    select ${heldBy(p('id'), p('tenantId'))} as held`,
);

/** The oldest task of a worker that an earlier statement locked. */
export const heldByWorker = async (tx: Tx, tenantId: number, id: string): Promise<HeldTask | null> =>
  (await ofWorker.first(tx, { tenantId, id }))?.held ?? null;

interface Presence {
  id: string;
  status: WorkerStatus;
  /** True = it ends with its current task. */
  finishing: boolean;
}

interface PresenceColumns {
  tenantId: number;
  ids: readonly string[];
  statuses: readonly string[];
  finishing: readonly boolean[];
  alive: boolean;
}

const present = prepared(
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
