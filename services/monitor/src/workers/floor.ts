import type { WorkerFloorEntry } from '@pipeline/contract';
import {
  AGENT_OF,
  etaMinutes,
  floorStatusOf,
  HOUR_MS,
  roundToTenth,
  type Settings,
  type WorkerCondition,
  workerAlertOf,
} from '@pipeline/domain';
import {
  type Db,
  type DurationEstimate,
  durationEstimates,
  type FloorTask,
  type FloorWorker,
  pendingByRepo,
  type Utilization,
  utilization,
  workersOnFloor,
} from '@pipeline/store';
import type { z } from 'zod';

type Entry = z.input<typeof WorkerFloorEntry>;

const WINDOW_MS = 8 * HOUR_MS;

interface Readings {
  pending: Awaited<ReturnType<typeof pendingByRepo>>;
  estimates: ReadonlyMap<string, DurationEstimate>;
  utilization: ReadonlyMap<string, Utilization>;
}

/** interface: Worker floor entry. Four reads, each over what is alive, not over what is past. */
export async function readFloor(fleet: Db, settings: Settings): Promise<Entry[]> {
  const workers = await workersOnFloor(fleet, settings);
  if (workers.length === 0) return [];
  const running = workers.flatMap(({ tenant_id, task }) => (task ? [executorOf(tenant_id, task)] : []));
  const wanted = new Map(running.map((executor) => [executorKey(executor), executor]));
  const estimates = await durationEstimates(fleet, [...wanted.values()]);
  const shares = await utilization(fleet, WINDOW_MS);
  const readings = {
    pending: await pendingByRepo(fleet),
    estimates: new Map(estimates.map((estimate) => [executorKey(estimate), estimate])),
    utilization: new Map(shares.map((share) => [workerKey(share.tenant_id, share.worker_id), share])),
  };
  return workers.map((worker) => entryOf(worker, readings));
}

function entryOf(worker: FloorWorker, readings: Readings): Entry {
  const { task } = worker;
  const condition: WorkerCondition = {
    status: worker.status,
    silentSince: worker.silent_since,
    stalledSince: worker.stalled_since,
    claim: task && { stuckSince: task.stuck_since },
  };
  const alert = workerAlertOf(condition);
  return {
    id: worker.id,
    name: worker.name,
    status: floorStatusOf(condition),
    draining: worker.draining,
    currentTask: task && {
      id: task.id,
      type: task.type,
      issueNumber: task.issue_number,
      repo: task.repo,
      pipelineState: task.state,
      etaMinutes: etaMinutes(readings.estimates.get(executorKey(executorOf(worker.tenant_id, task))), task.running_ms),
    },
    queueDepth: depthFor(worker, readings.pending),
    utilization8hPct: utilizationPct(readings.utilization.get(workerKey(worker.tenant_id, worker.id))),
    lastHeartbeat: worker.last_heartbeat_at,
    idle: task === null,
    alert: alert && { ...alert, humanAssignee: task?.assignee ?? null },
  };
}

/** A worker that names no repo serves all of its tenant. */
function depthFor({ tenant_id, repos }: FloorWorker, pending: Readings['pending']): number {
  const keys = new Set(repos.map((slug) => slug.toLowerCase()));
  const served = pending.filter((row) => row.tenant_id === tenant_id && (keys.size === 0 || keys.has(row.slug_key)));
  return served.reduce((sum, row) => sum + row.pending, 0);
}

/** Percent of the time that the worker was there; 0 when it was not. */
const utilizationPct = (share: Utilization | undefined): number =>
  share && share.online_ms > 0 ? roundToTenth(Math.min(100, (100 * share.busy_ms) / share.online_ms)) : 0;

const executorOf = (tenantId: number, task: FloorTask) => ({
  tenantId,
  repoId: task.repo_id,
  agent: AGENT_OF[task.type],
});
const executorKey = ({ tenantId, repoId, agent }: ReturnType<typeof executorOf>): string =>
  `${tenantId}/${repoId}/${agent}`;
const workerKey = (tenantId: number, id: string): string => `${tenantId}/${id}`;
