import { percent, ratio, roundToTenth } from '../figures.ts';
import { BLOCKED_STATES, IN_FLIGHT_STATES, IN_PROGRESS_STATES, type State } from '../states.ts';

export const METRIC_WINDOWS_DAYS = [7, 30] as const;
export type MetricWindowDays = (typeof METRIC_WINDOWS_DAYS)[number];

/** Figures of one repo's pipeline. A rate, mean or median of nothing is null, a count or sum of nothing 0. */
export interface PipelineMetrics {
  repo: string;
  windowDays: MetricWindowDays;
  computedAt: string;
  openIssues: number;
  inFlight: number;
  inProgress: number;
  blocked: number;
  awaitingReview: number;
  throughput: number;
  cycleTimeMinutes: number | null;
  successRatePct: number | null;
  reviewPassRatio: number | null;
  timeToFirstPrMs: number | null;
  avgReviewCycles: number | null;
  prRevertRatio: number | null;
  agentAttributionRatio: number | null;
  autonomousMergePct: number | null;
  costTodayUsd: number;
  costWindowUsd: number;
  dlqDepth: number;
  pendingTaskCount: number;
  avgQueueWaitMs: number | null;
  oldestPendingAgeMs: number | null;
  projectedDrainMs: number | null;
  vcsWriteQueueDepth: number;
  vcsWriteQueueFailed: number;
  /** The samples of the rates: `resolved` = merged or paused issues, `merged` = merged pull requests. */
  sampleSizes: { resolved: number; merged: number };
}

/** The inputs of a repo's figures, counted by the store. */
export interface RepoFigures {
  now: string;
  counts: readonly { state: State; isPaused: boolean; n: number }[];
  done: number;
  cycleTimeMinutes: number | null;
  doneAndMerged: number;
  paused: number;
  timeToFirstPrMs: number | null;
  mergedPulls: number;
  passedAtOnce: number;
  reviewCycles: number;
  revertedPulls: number;
  agentPulls: number;
  mergedIssues: number;
  autonomousIssues: number;
  costTodayUsd: number;
  costWindowUsd: number;
  openLetters: number;
  pendingTasks: number;
  avgWaitMs: number | null;
  oldestWaitMs: number | null;
  writes: number;
  failedWrites: number;
}

/** The figures of a repo in display form. */
export function pipelineMetricsOf(
  { repo, windowDays, projectedDrainMs }: Pick<PipelineMetrics, 'repo' | 'windowDays' | 'projectedDrainMs'>,
  f: RepoFigures,
): PipelineMetrics {
  const resolved = f.doneAndMerged + f.paused;
  return {
    repo,
    windowDays,
    computedAt: f.now,
    ...standingOf(f.counts),
    throughput: f.done,
    cycleTimeMinutes: rounded(f.cycleTimeMinutes, roundToTenth),
    successRatePct: percent(f.doneAndMerged, resolved),
    reviewPassRatio: ratio(f.passedAtOnce, f.mergedPulls),
    timeToFirstPrMs: rounded(f.timeToFirstPrMs, Math.round),
    avgReviewCycles: ratio(f.reviewCycles, f.mergedPulls),
    prRevertRatio: ratio(f.revertedPulls, f.mergedPulls),
    agentAttributionRatio: ratio(f.agentPulls, f.mergedPulls),
    autonomousMergePct: percent(f.autonomousIssues, f.mergedIssues),
    costTodayUsd: f.costTodayUsd,
    costWindowUsd: f.costWindowUsd,
    dlqDepth: f.openLetters,
    pendingTaskCount: f.pendingTasks,
    avgQueueWaitMs: rounded(f.avgWaitMs, Math.round),
    oldestPendingAgeMs: rounded(f.oldestWaitMs, Math.round),
    projectedDrainMs,
    vcsWriteQueueDepth: f.writes,
    vcsWriteQueueFailed: f.failedWrites,
    sampleSizes: { resolved, merged: f.mergedPulls },
  };
}

const rounded = (value: number | null, round: (value: number) => number): number | null =>
  value === null ? null : round(value);

/** Issues by state, from their counts. */
export function standingOf(counts: RepoFigures['counts']) {
  const sumOf = (keep: (count: { state: State; isPaused: boolean }) => boolean) =>
    counts.filter(keep).reduce((sum, { n }) => sum + n, 0);
  const within = (states: readonly State[]) => sumOf(({ state }) => states.includes(state));
  return {
    openIssues: sumOf(({ state, isPaused }) => state !== 'done' && !isPaused),
    inFlight: within(IN_FLIGHT_STATES),
    inProgress: within(IN_PROGRESS_STATES),
    blocked: within(BLOCKED_STATES),
    awaitingReview: within(['human-review-ready']),
  };
}
