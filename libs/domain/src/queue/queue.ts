import type { TaskType } from '../task-types.ts';
import { MIN_DURATION_SAMPLES } from '../workers/status.ts';

/** A waiting or claimed task (interface: Task queue entry). Durations are milliseconds. */
export interface TaskQueueEntry {
  id: string;
  taskType: TaskType;
  /** 0 for tasks on a whole repo. */
  issueNumber: number;
  repoOwner: string;
  repoName: string;
  status: 'pending' | 'claimed';
  priority: number;
  claimedBy: string | null;
  createdAt: string;
  claimedAt: string | null;
  waitTimeMs: number;
  estimatedDurationMs: number | null;
}

/** Waiting tasks of one kind in one place, and the duration of one; null = unknown. */
interface WaitingWork {
  pending: number;
  estimatedDurationMs: number | null;
}

/** Summary of the queue (interface: Task queue entry, Summary). */
export interface TaskQueueSummary {
  totalPending: number;
  totalClaimed: number;
  avgWaitMs: number;
  oldestPendingAgeMs: number | null;
}

/** The median, if there are enough samples; milliseconds. */
export const estimateOf = (found: { medianMs: number; samples: number } | undefined): number | null =>
  found && found.samples >= MIN_DURATION_SAMPLES ? Math.round(found.medianMs) : null;

/** The mean wait of these tasks in milliseconds; 0 without any. */
export const meanWaitMs = (tasks: readonly Pick<TaskQueueEntry, 'waitTimeMs'>[]): number =>
  tasks.length === 0 ? 0 : Math.round(tasks.reduce((sum, task) => sum + task.waitTimeMs, 0) / tasks.length);

/** Total duration of all waiting tasks one after the other, as far as it can be estimated; null when none can. */
export function projectedDrainMs(waiting: readonly WaitingWork[]): number | null {
  const known = waiting.flatMap(({ pending, estimatedDurationMs: each }) =>
    pending > 0 && each !== null ? [pending * each] : [],
  );
  return known.length === 0 ? null : known.reduce((sum, ms) => sum + ms, 0);
}
