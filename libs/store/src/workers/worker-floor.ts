import type { State, TaskType, WorkerStatus } from '@pipeline/domain';
import { sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { ClaimLimits } from '../queue/claimed-tasks.ts';

/** A worker with its task; of several the oldest one. */
export interface FloorWorker {
  tenant_id: number;
  id: string;
  name: string;
  version: string;
  repos: string[];
  task_types: TaskType[];
  status: WorkerStatus;
  draining: boolean;
  registered_at: string;
  last_heartbeat_at: string | null;
  /** Time at which the first missing heartbeat was due. */
  silent_since: string | null;
  stalled_since: string | null;
  task: FloorTask | null;
}

export interface FloorTask {
  id: string;
  type: TaskType;
  repo_id: number;
  repo: string;
  issue_number: number | null;
  state: State | null;
  /** Login of the assignee of the issue (a person), as reported by the host. */
  assignee: string | null;
  claimed_at: string;
  running_ms: number;
  /** Time at which its lease expired, or its progress was due. */
  stuck_since: string | null;
}

type FlatRow = Omit<FloorWorker, 'task'> & { task_id: string | null } & Omit<FloorTask, 'id'>;

/**
 * The workers of all tenants that are present, or fell silent and have not been given up, by name. Cost: the workers on
 * the floor, and for each its claims by index tasks_of_worker.
 */
export async function workersOnFloor(
  fleet: Db,
  { stallMs, workerSilenceMs }: Omit<ClaimLimits, 'claimToStartMs'>,
): Promise<FloorWorker[]> {
  const { rows } = await sql<FlatRow>`
    ${fleetNote('operators see all tenants')}
    with t as materialized (
      select distinct on (t.tenant_id, t.claimed_by) t.tenant_id, t.claimed_by, t.id as task_id, t.task_type as type,
        t.repo_id, r.owner || '/' || r.name as repo,
        nullif(t.issue_number, 0) as issue_number, i.state, f.assignee, t.claimed_at,
        greatest(0, extract(epoch from svc_now() - t.claimed_at) * 1000)::bigint as running_ms,
        least(case when t.lease_expires_at < svc_now() then t.lease_expires_at end,
          case when t.progress_at < svc_now() - ${msInterval(stallMs)} then t.progress_at + ${msInterval(stallMs)} end
        ) as stuck_since
      from tasks t
      join repos r on r.tenant_id = t.tenant_id and r.id = t.repo_id
      left join issues i on i.tenant_id = t.tenant_id and i.id = t.issue_id
      left join issue_host_facts f on f.tenant_id = t.tenant_id and f.issue_id = t.issue_id
      where t.status = 'claimed'
      order by t.tenant_id, t.claimed_by, t.claimed_at
    )
    select w.tenant_id, w.id, w.name, w.version, w.repos, w.task_types, w.status, w.draining, w.registered_at, w.last_heartbeat_at,
      case when w.last_heartbeat_at < svc_now() - ${msInterval(workerSilenceMs)}
        then w.last_heartbeat_at + ${msInterval(workerSilenceMs)} end as silent_since,
      w.stalled_since, t.task_id, t.type, t.repo_id, t.repo, t.issue_number, t.state, t.assignee, t.claimed_at, t.running_ms,
      t.stuck_since
    from workers w
    left join t on t.tenant_id = w.tenant_id and t.claimed_by = w.id
    where w.left_at is null
    order by w.tenant_id, w.name`.execute(fleet);
  return rows.map(
    ({
      task_id,
      type,
      repo_id,
      repo,
      issue_number,
      state,
      assignee,
      claimed_at,
      running_ms,
      stuck_since,
      ...worker
    }) => ({
      ...worker,
      task:
        task_id === null
          ? null
          : { id: task_id, type, repo_id, repo, issue_number, state, assignee, claimed_at, running_ms, stuck_since },
    }),
  );
}
