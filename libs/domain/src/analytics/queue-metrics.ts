import { mean, median, sum } from '../figures.ts';
import { DAY_MS } from '../windows.ts';
import { MIN_DURATION_SAMPLES } from '../workers/status.ts';
import type { Metric } from './definition.ts';
import type { History, Ms, TaskFact } from './history.ts';
import { inPeriod } from './issue-facts.ts';

const ESTIMATE_WINDOW_MS = 7 * DAY_MS;

const queue = { group: 'Queue', window: 'now' } as const;
const pending = ({ tasks }: History): TaskFact[] => tasks.filter(({ status }) => status === 'pending');

/** Milliseconds by `repo id/agent`, of those that have enough samples. */
function estimates({ runs }: History, now: Ms): Record<string, number> {
  const completed = runs.filter(
    (run) => run.isCompleted && inPeriod({ from: now - ESTIMATE_WINDOW_MS, now }, run.finishedAt),
  );
  const groups = Map.groupBy(completed, ({ repoId, agent }) => `${repoId}/${agent}`);
  return Object.fromEntries(
    [...groups].flatMap(([key, samples]) => {
      const middle = median(samples.map(({ claimedAt, finishedAt }) => (finishedAt ?? claimedAt) - claimedAt));
      return middle === null || samples.length < MIN_DURATION_SAMPLES ? [] : [[key, Math.round(middle)]];
    }),
  );
}

const WAITS: Metric[] = [
  {
    ...queue,
    id: 'dlq_depth',
    label: 'DLQ depth',
    unit: 'count',
    formula: 'unresolved dead letters',
    source: 'GET /api/queue/depth, dlqDepth; GET /api/dead-letters',
    compute: ({ deadLetters }) => deadLetters.filter(({ isResolved }) => !isResolved).length,
  },
  {
    ...queue,
    id: 'pending_tasks',
    label: 'Pending tasks',
    unit: 'count',
    formula: 'tasks with status pending, including held tasks',
    source: 'GET /api/queue/depth, pendingTaskCount',
    compute: (history) => pending(history).length,
  },
  {
    ...queue,
    id: 'avg_queue_wait',
    label: 'Avg queue wait',
    unit: 'ms',
    formula: 'mean waitTimeMs of pending tasks',
    source: 'GET /dashboard, metrics[repo].avgQueueWaitMs',
    compute: (history, { now }) => mean(pending(history).map(({ createdAt }) => now - createdAt)),
  },
  {
    ...queue,
    id: 'oldest_pending_age',
    label: 'Oldest pending age',
    unit: 'ms',
    formula: 'largest waitTimeMs among pending tasks',
    source: 'GET /api/task-queue, summary.oldestPendingAgeMs',
    compute: (history, { now }) =>
      pending(history).reduce<number | null>((most, { createdAt }) => Math.max(most ?? 0, now - createdAt), null),
  },
];

const DURATIONS: Metric[] = [
  {
    ...queue,
    id: 'est_duration',
    label: 'Est. duration',
    unit: 'ms',
    window: 'trailing 7 d',
    formula: `median of (completed - claimed), by repo and executor (the agent of the task type); only with ${MIN_DURATION_SAMPLES} samples or more, else a dash`,
    source: 'GET /api/task-queue, tasks[].estimatedDurationMs',
    compute: (history, { now }) => estimates(history, now),
  },
  {
    ...queue,
    id: 'projected_drain',
    label: 'Projected drain',
    unit: 'ms',
    formula: 'sum of the known estimates over pending tasks; hidden when no pending task has one',
    source: 'GET /api/pipeline/task-queue, projectedDrainMs',
    compute(history, { now }) {
      const known = estimates(history, now);
      const each = pending(history).flatMap(({ repoId, agent }) => known[`${repoId}/${agent}`] ?? []);
      return each.length === 0 ? null : sum(each);
    },
  },
  {
    ...queue,
    id: 'write_queue',
    label: 'Write queue',
    unit: 'count',
    formula: 'projections with status pending or failed',
    source: 'GET /api/queue/depth, vcsWriteQueueDepth, vcsWriteQueueFailed',
    compute: ({ projections }) =>
      projections.filter(({ status }) => status === 'pending' || status === 'failed').length,
  },
];

export const QUEUE_METRICS: readonly Metric[] = [...WAITS, ...DURATIONS];
