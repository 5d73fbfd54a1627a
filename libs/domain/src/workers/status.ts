import { roundToTenth } from '../figures.ts';
import { MINUTE_MS } from '../windows.ts';

/** A worker's status in the event stream (interface: Events). */
export const WORKER_STATUSES = ['idle', 'busy', 'draining', 'offline'] as const;
export type WorkerStatus = (typeof WORKER_STATUSES)[number];

/** A worker's status on the floor. */
export const FLOOR_STATUSES = ['idle', 'running', 'draining', 'offline', 'stalled'] as const;
type FloorStatus = (typeof FLOOR_STATUSES)[number];

/**
 * A worker counts as there for so long after its last heartbeat, and a task must have waited so long before it is said
 * to have no worker: four times the silence after which a worker is offline, so the restart of an only worker, with the
 * start of its container, is no alarm.
 */
export const WORKER_GRACE_MS = 2 * MINUTE_MS;

/** The recorded periods of a worker. `silent` and `stalled` together are degraded time. */
const WORKER_PERIOD_KINDS = ['online', 'silent', 'stalled'] as const;
export type WorkerPeriodKind = (typeof WORKER_PERIOD_KINDS)[number];

/** Minimum number of samples for an estimate (interface: Limits). */
export const MIN_DURATION_SAMPLES = 5;

/** The status of a worker that is present. Draining takes precedence over busy: its current task is the last one. */
export const presentStatus = ({ draining, busy }: { draining: boolean; busy: boolean }): WorkerStatus =>
  draining ? 'draining' : busy ? 'busy' : 'idle';

/** The input of a worker's floor status; times are ISO 8601. */
export interface WorkerCondition {
  status: WorkerStatus;
  /** Time at which the first missing heartbeat was due; null while they arrive. */
  silentSince: string | null;
  /** Since when its last task, which was reclaimed, had no progress; null once the worker has released it. */
  stalledSince: string | null;
  /** Its claim: since when it has expired or had no progress; null = it is fine. */
  claim: { stuckSince: string | null } | null;
}

/** A task without progress takes precedence over any other status of its worker. */
export function floorStatusOf(worker: WorkerCondition): FloorStatus {
  const { claim, silentSince, stalledSince } = worker;
  if (claim && (claim.stuckSince !== null || silentSince !== null)) return 'stalled';
  if (silentSince !== null || worker.status === 'offline') return 'offline';
  if (stalledSince !== null) return 'stalled';
  if (worker.status === 'draining') return 'draining';
  return claim ? 'running' : 'idle';
}

/** Why a worker needs attention, and since when; null = it does not. */
export function workerAlertOf({ silentSince, stalledSince, claim }: WorkerCondition) {
  if (silentSince !== null) return { reason: 'silent' as const, since: silentSince };
  const since = claim?.stuckSince ?? stalledSince;
  return since === null ? null : { reason: 'stalled' as const, since };
}

/**
 * Minutes until a running task is done, if it takes the median time; never negative.
 * @returns null when there are too few samples.
 */
export function etaMinutes(estimate: { medianMs: number; samples: number } | undefined, runningMs: number) {
  if (!estimate || estimate.samples < MIN_DURATION_SAMPLES) return null;
  return roundToTenth(Math.max(0, estimate.medianMs - runningMs) / MINUTE_MS);
}
