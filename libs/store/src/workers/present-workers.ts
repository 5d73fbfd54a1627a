import { presentStatus, type TaskType } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { WorkerRow } from './workers.ts';

interface Presence {
  /** The workers themselves sent a heartbeat or request. */
  alive: boolean;
  /** Whether they end with the current task; null = unchanged. */
  finishing: boolean | null;
}

/** A worker's current status, and the oldest of its tasks, all null without one. */
export interface PresentWorker extends Pick<WorkerRow, 'id' | 'status' | 'finishing'> {
  task_type: TaskType | null;
  issue_number: number | null;
  owner: string;
  name: string;
}

const statusIf = (is: Parameters<typeof presentStatus>[0]) => sql.lit(presentStatus(is));

const present = prepared(
  'present-workers',
  (_db, p: Params<Presence & { tenantId: number; ids: readonly string[] }>) => sql<PresentWorker>`
    update workers w set
      finishing = coalesce(${p('finishing')}::boolean, w.finishing),
      status = case
        when w.draining or coalesce(${p('finishing')}::boolean, w.finishing)
          then ${statusIf({ draining: true, busy: false })}
        when held.task_type is not null then ${statusIf({ draining: false, busy: true })}
        else ${statusIf({ draining: false, busy: false })} end,
      left_at = case when ${p('alive')}::boolean then null else w.left_at end,
      last_heartbeat_at = case when ${p('alive')}::boolean then held.now else w.last_heartbeat_at end
    from (
      select wanted.id, t.task_type, t.issue_number, r.owner, r.name, svc_now() as now
      from unnest((select ${p('ids')}::text[])) as wanted (id)
      left join lateral (
        select task_type, issue_number, repo_id from tasks
        where tenant_id = ${p('tenantId')} and claimed_by = wanted.id and status = 'claimed'
        order by claimed_at limit 1
      ) t on true
      left join repos r on r.tenant_id = ${p('tenantId')} and r.id = t.repo_id
    ) held
    where w.tenant_id = ${p('tenantId')} and w.id = held.id and (${p('alive')}::boolean or w.status <> 'offline')
    returning w.id, w.status, w.finishing, held.task_type, held.issue_number, held.owner, held.name`,
);

/**
 * Updates the status of workers, locked by an earlier statement, from the tasks they hold (index tasks_of_worker) and
 * their drain flag. Offline workers that sent nothing stay offline.
 * @returns the workers that are present.
 */
export const presentWorkers = (
  tx: Tx,
  tenantId: number,
  ids: readonly string[],
  presence: Presence,
): Promise<PresentWorker[]> => present.all(tx, { tenantId, ids, ...presence });
