import { roundToTenth } from '../figures.ts';
import { MINUTE_MS } from '../windows.ts';

/** A worker's status as the event stream tells it (interface: Events). */
export const WORKER_STATUSES = ['idle', 'busy', 'draining', 'offline'] as const;
export type WorkerStatus = (typeof WORKER_STATUSES)[number];

/** A worker's status as the floor shows it. */
export const FLOOR_STATUSES = ['idle', 'running', 'draining', 'offline', 'stalled'] as const;
export type FloorStatus = (typeof FLOOR_STATUSES)[number];

/** What is kept of a worker's past. `silent` and `stalled` together are degraded time. */
export const WORKER_PERIOD_KINDS = ['online', 'silent', 'stalled'] as const;
export type WorkerPeriodKind = (typeof WORKER_PERIOD_KINDS)[number];

/** Estimates of fewer samples say nothing (interface: Limits). */
export const MIN_DURATION_SAMPLES = 5;

/** The status of a worker that is there. Draining goes before busy: what it does now is the last it does. */
export const presentStatus = ({ draining, busy }: { draining: boolean; busy: boolean }): WorkerStatus =>
  draining ? 'draining' : busy ? 'busy' : 'idle';

/** What the floor needs to know of a worker; times are ISO 8601. */
export interface WorkerCondition {
  status: WorkerStatus;
  /** Since when no heartbeat has come that was due; null while they come. */
  silentSince: string | null;
  /** Since when its last task was without progress, which was taken from it; null once it has let go of it. */
  stalledSince: string | null;
  /** The claim that it holds: since when that is over, or without progress for too long; null = it is fine. */
  claim: { stuckSince: string | null } | null;
}

/** A task that nobody seems to work on is what matters most, whatever else its worker is. */
export function floorStatusOf(worker: WorkerCondition): FloorStatus {
  const { claim, silentSince, stalledSince } = worker;
  if (claim && (claim.stuckSince !== null || silentSince !== null)) return 'stalled';
  if (silentSince !== null || worker.status === 'offline') return 'offline';
  if (stalledSince !== null) return 'stalled';
  if (worker.status === 'draining') return 'draining';
  return claim ? 'running' : 'idle';
}

/** Why a person should look at a worker, and since when; null = all is well. */
export function workerAlertOf({ silentSince, stalledSince, claim }: WorkerCondition) {
  if (silentSince !== null) return { reason: 'silent' as const, since: silentSince };
  const since = claim?.stuckSince ?? stalledSince;
  return since === null ? null : { reason: 'stalled' as const, since };
}

/**
 * Minutes until a running task is done, if it takes as long as the median did; never negative.
 * @returns null when there are too few samples.
 */
export function etaMinutes(estimate: { medianMs: number; samples: number } | undefined, runningMs: number) {
  if (!estimate || estimate.samples < MIN_DURATION_SAMPLES) return null;
  return roundToTenth(Math.max(0, estimate.medianMs - runningMs) / MINUTE_MS);
}
