import { roundToTenth } from '@pipeline/domain';
import { OVERVIEW_LIST, type PoolWorker } from '@pipeline/store';

/** The workers that serve a repo, and its waiting tasks (interface: WorkerPoolSnapshot). */
export interface WorkerPool {
  repo: string;
  total: number;
  idle: number;
  busy: number;
  draining: number;
  offline: number;
  utilizationPct: number;
  queueDepth: number;
  oldestPendingAgeMs: number | null;
  lastHeartbeat: string | null;
  degradedSince: string | null;
  workers: Omit<PoolWorker, 'troubledSince'>[];
}

type Serving = Pick<WorkerPool, 'repo' | 'queueDepth' | 'oldestPendingAgeMs'> & { workers: readonly PoolWorker[] };

export function poolOf({ repo, workers, queueDepth, oldestPendingAgeMs }: Serving): WorkerPool {
  const count = (status: PoolWorker['status']) => workers.filter((worker) => worker.status === status).length;
  const offline = count('offline');
  const present = workers.length - offline;
  const holding = workers.filter(({ status, taskType }) => status !== 'offline' && taskType !== null).length;
  return {
    repo,
    total: workers.length,
    idle: count('idle'),
    busy: count('busy'),
    draining: count('draining'),
    offline,
    utilizationPct: present === 0 ? 0 : roundToTenth((holding / present) * 100),
    queueDepth,
    oldestPendingAgeMs,
    lastHeartbeat: latest(workers.map(({ lastHeartbeat }) => lastHeartbeat)),
    degradedSince: earliest(workers.map(({ troubledSince }) => troubledSince)),
    workers: workers.slice(0, OVERVIEW_LIST).map(({ troubledSince: _, ...worker }) => worker),
  };
}

/** The times have one format, which sorts as text. */
const sorted = (times: readonly (string | null)[]): string[] => times.filter((time) => time !== null).sort();
const latest = (times: readonly (string | null)[]): string | null => sorted(times).at(-1) ?? null;
const earliest = (times: readonly (string | null)[]): string | null => sorted(times)[0] ?? null;
