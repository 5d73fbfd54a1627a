import {
  BLOCKED_STATES,
  estimateOf,
  IN_FLIGHT_STATES,
  IN_PROGRESS_STATES,
  percent,
  projectedDrainMs,
  ratio,
  STATES,
} from '@pipeline/domain';
import type { RepoCosts, RepoFlow, StateCount } from '@pipeline/store';
import { type Counts, countOf, type FigureWindow, type Flow, type Live, namesOf, repoKey } from './readings.ts';

/** The figures of a repo (interface: PipelineMetrics). Ratios and medians are null where there is nothing to take them of. */
export interface PipelineMetrics {
  repo: string;
  windowDays: FigureWindow;
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
  sampleSizes: { resolved: number; merged: number };
}

export interface Readings {
  counts: Counts;
  live: Live;
  flow: Flow;
}

const OPEN = STATES.filter((state) => state !== 'done');

/** Of every repo whose flow has been read, by the name that it is told by. */
export function pipelineMetrics({ counts, live, flow }: Readings, days: FigureWindow): Record<string, PipelineMetrics> {
  const names = namesOf(counts.repos);
  const states = grouped(counts.counts);
  const queues = queuesOf(live);
  const metrics = counts.repos.flatMap((repo) => {
    const key = repoKey(repo);
    const flows = flow.flows.get(key);
    const name = names.get(key) ?? '';
    if (!flows) return [];
    const figures: PipelineMetrics = {
      repo: name,
      windowDays: days,
      computedAt: flow.computedAt,
      ...issueFigures(states.get(key) ?? []),
      ...flowFigures(flows[days]),
      ...costFigures(flow.costs.get(key), days),
      ...queues(key),
    };
    return [[name, figures] as const];
  });
  return Object.fromEntries(metrics);
}

function issueFigures(counts: readonly StateCount[]) {
  return {
    openIssues: countOf(
      counts.filter(({ isPaused }) => !isPaused),
      OPEN,
    ),
    inFlight: countOf(counts, IN_FLIGHT_STATES),
    inProgress: countOf(counts, IN_PROGRESS_STATES),
    blocked: countOf(counts, BLOCKED_STATES),
    awaitingReview: countOf(counts, ['human-review-ready']),
  };
}

function flowFigures(flow: RepoFlow) {
  const resolved = flow.doneMerged + flow.stillPaused;
  return {
    throughput: flow.done,
    cycleTimeMinutes: flow.cycleMinutes,
    successRatePct: percent(flow.doneMerged, resolved),
    reviewPassRatio: ratio(flow.firstPassPrs, flow.mergedPrs),
    timeToFirstPrMs: flow.firstPrMs,
    avgReviewCycles: flow.reviewCycles,
    prRevertRatio: ratio(flow.revertedPrs, flow.mergedPrs),
    agentAttributionRatio: ratio(flow.agentPrs, flow.mergedPrs),
    autonomousMergePct: percent(flow.autonomousIssues, flow.mergedIssues),
    sampleSizes: { resolved, merged: flow.mergedPrs },
  };
}

const costFigures = (costs: RepoCosts | undefined, days: FigureWindow) => ({
  costTodayUsd: costs?.todayUsd ?? 0,
  costWindowUsd: (days === 7 ? costs?.last7dUsd : costs?.last30dUsd) ?? 0,
});

/** What waits in each repo, looked up by its key. */
function queuesOf({ work, letters, writes }: Live) {
  const workOf = grouped(work);
  const lettersOf = grouped(letters);
  const writesOf = grouped(writes);
  return (key: string) => {
    const waiting = (workOf.get(key) ?? []).filter(({ pending }) => pending > 0);
    const pending = sum(waiting.map((of) => of.pending));
    const written = writesOf.get(key) ?? [];
    return {
      dlqDepth: sum((lettersOf.get(key) ?? []).map(({ n }) => n)),
      pendingTaskCount: pending,
      avgQueueWaitMs: pending === 0 ? null : Math.round(sum(waiting.map((of) => of.pendingWaitMs)) / pending),
      oldestPendingAgeMs: pending === 0 ? null : Math.max(...waiting.map((of) => of.oldestPendingAgeMs ?? 0)),
      projectedDrainMs: projectedDrainMs(
        waiting.map(({ pending, medianMs, samples }) => ({
          pending,
          estimatedDurationMs: estimateOf(medianMs === null ? undefined : { medianMs, samples }),
        })),
      ),
      vcsWriteQueueDepth: sum(written.map(({ count }) => count)),
      vcsWriteQueueFailed: sum(written.map(({ status, count }) => (status === 'failed' ? count : 0))),
    };
  };
}

const grouped = <T extends { tenantId: number; repoId: number }>(rows: readonly T[]): Map<string, T[]> =>
  Map.groupBy(rows, repoKey);

const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0);
