import { MIN_DURATION_SAMPLES } from '../workers/status.ts';
import type { MetricDefinition } from './metric-definition.ts';

const COST_METRICS: readonly MetricDefinition[] = [
  {
    id: 'cost_today',
    group: 'Cost',
    label: 'Cost today',
    unit: 'usd',
    window: 'since midnight UTC',
    formula: 'sum of cost event amounts since midnight UTC; an unreported cost adds nothing and is counted beside it',
    source: 'GET /api/pipeline/cost-summary, todayUsd, todayUnreportedCosts',
  },
  {
    id: 'cost',
    group: 'Cost',
    label: 'Cost',
    unit: 'usd',
    window: '24 h, 7 d, 30 d or lifetime',
    formula: 'sum of cost event amounts over the window; an unreported cost adds nothing and is counted beside it',
    source: 'GET /api/pipeline/cost-summary, last24hUsd, last7dUsd, last30dUsd, lifetimeUsd',
  },
  {
    id: 'unreported_costs',
    group: 'Cost',
    label: 'Invocations without a cost',
    unit: 'count',
    window: 'since midnight UTC, 24 h, 7 d, 30 d or lifetime',
    formula: 'invocations of the window with neither a reported cost nor tokens that the price table prices',
    source:
      'GET /api/pipeline/cost-summary, todayUnreportedCosts, last24hUnreportedCosts, last7dUnreportedCosts, last30dUnreportedCosts, lifetimeUnreportedCosts',
  },
];

const queue = { group: 'Queue', window: 'now' } as const;
const QUEUE_WAITS: readonly MetricDefinition[] = [
  {
    ...queue,
    id: 'dlq_depth',
    label: 'DLQ depth',
    unit: 'count',
    formula: 'unresolved dead letters',
    source: 'GET /api/queue/depth, dlqDepth; GET /api/dead-letters',
  },
  {
    ...queue,
    id: 'pending_tasks',
    label: 'Pending tasks',
    unit: 'count',
    formula: 'tasks with status pending, including held tasks',
    source: 'GET /api/queue/depth, pendingTaskCount',
  },
  {
    ...queue,
    id: 'avg_queue_wait',
    label: 'Avg queue wait',
    unit: 'ms',
    formula: 'mean waitTimeMs of pending tasks',
    source: 'GET /dashboard, metrics[repo].avgQueueWaitMs',
  },
  {
    ...queue,
    id: 'oldest_pending_age',
    label: 'Oldest pending age',
    unit: 'ms',
    formula: 'largest waitTimeMs among pending tasks',
    source: 'GET /api/task-queue, summary.oldestPendingAgeMs',
  },
];

const QUEUE_DURATIONS: readonly MetricDefinition[] = [
  {
    ...queue,
    id: 'est_duration',
    label: 'Est. duration',
    unit: 'ms',
    window: 'trailing 7 d',
    formula: `median of (completed - claimed), by repo and executor (the agent of the task type); only with ${MIN_DURATION_SAMPLES} samples or more, else a dash`,
    source: 'GET /api/task-queue, tasks[].estimatedDurationMs',
  },
  {
    ...queue,
    id: 'projected_drain',
    label: 'Projected drain',
    unit: 'ms',
    formula: 'sum of the known estimates over pending tasks; hidden when no pending task has one',
    source: 'GET /api/pipeline/task-queue, projectedDrainMs',
  },
  {
    ...queue,
    id: 'write_queue',
    label: 'Write queue',
    unit: 'count',
    formula: 'projections with status pending or failed',
    source: 'GET /api/queue/depth, vcsWriteQueueDepth, vcsWriteQueueFailed',
  },
];

const FLEET_METRICS: readonly MetricDefinition[] = [
  {
    id: 'worker_count',
    group: 'Fleet',
    label: 'Worker count',
    unit: 'count',
    window: 'now',
    formula:
      'workers with a recent heartbeat (default 30 s) that have not signed off; each handles one issue at a time',
    source: 'GET /api/workers',
  },
  {
    id: 'si_tracks',
    group: 'Fleet',
    label: 'SI Tracks',
    unit: 'count',
    window: 'now',
    formula: 'configured self-improvement tracks',
    source: 'GET /api/si-tracks',
  },
  {
    id: 'si_tracks_overdue',
    group: 'Fleet',
    label: 'Overdue tracks',
    unit: 'count',
    window: 'now',
    formula:
      'enabled tracks with now - last_run_at > cooldown_minutes, or with a missed scheduled run; for a track without a run, the time counts from when its cadence was set',
    source: 'GET /api/si-tracks, items[].overdue',
  },
  {
    id: 'cadence',
    group: 'Fleet',
    label: 'Cadence',
    unit: null,
    window: '-',
    formula:
      'cadenceKind with cooldownMinutes or cronExpr: a cooldown track runs again once the cooldown has elapsed, a cron track runs on its schedule',
    source: 'GET /api/si-tracks',
  },
];

/** Metrics of costs, of the queue and of the workers. */
export const OPERATION_METRICS: readonly MetricDefinition[] = [
  ...COST_METRICS,
  ...QUEUE_WAITS,
  ...QUEUE_DURATIONS,
  ...FLEET_METRICS,
];
