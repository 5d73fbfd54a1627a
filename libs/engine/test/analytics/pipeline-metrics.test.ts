import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  DAY_MS,
  METRIC_WINDOWS_DAYS,
  type MetricWindowDays,
  type PipelineMetrics,
  roundToTenth,
} from '@pipeline/domain';
import { type RepoMetrics, readPipelineMetrics } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { simulateHistory } from '@pipeline/testing/history';
import { byRepo, figure, type MetricId, type Rows, readRows } from '@pipeline/testing/oracle';
import { makeBench } from '../harness.ts';

const database = testDatabase();
const END = new Date('2026-06-17T12:00:00Z');

/** The definition of each field, and its rounding for display. */
const FOLLOWS: Partial<Record<keyof PipelineMetrics, [id: MetricId, round?: (value: number) => number]>> = {
  openIssues: ['open_issues'],
  inFlight: ['in_flight'],
  inProgress: ['in_progress'],
  blocked: ['blocked'],
  awaitingReview: ['awaiting_review'],
  throughput: ['throughput'],
  cycleTimeMinutes: ['cycle_time', roundToTenth],
  successRatePct: ['success_rate'],
  reviewPassRatio: ['review_pass_rate'],
  timeToFirstPrMs: ['time_to_first_pr', Math.round],
  avgReviewCycles: ['avg_review_cycles'],
  prRevertRatio: ['pr_revert_rate'],
  agentAttributionRatio: ['agent_attribution'],
  autonomousMergePct: ['autonomous_merge_rate'],
  costTodayUsd: ['cost_today'],
  costWindowUsd: ['cost'],
  dlqDepth: ['dlq_depth'],
  pendingTaskCount: ['pending_tasks'],
  avgQueueWaitMs: ['avg_queue_wait', Math.round],
  oldestPendingAgeMs: ['oldest_pending_age', Math.round],
  projectedDrainMs: ['projected_drain'],
  vcsWriteQueueDepth: ['write_queue'],
};

const found = new Map<MetricWindowDays, RepoMetrics[]>();
let rows: Map<number, Rows>;

beforeAll(async () => {
  await simulateHistory(database.db, { tenants: 2, repos: 4, days: 60, issues: 600, seed: 41, end: END });
  database.clock.now = END;
  await makeBench(database.store, { slug: 'quiet/empty' });
  for (const days of METRIC_WINDOWS_DAYS) found.set(days, await readPipelineMetrics(database.store, days));
  rows = byRepo(await readRows(database.db));
});

describe.each(METRIC_WINDOWS_DAYS)('over %i days', (days) => {
  test.each(Object.entries(FOLLOWS))('%s equals its definition over the rows', (field, [id, round = (n) => n]) => {
    let nonZero = 0;
    for (const { repoId, metrics } of found.get(days) ?? []) {
      const period = { now: END.getTime(), from: END.getTime() - days * DAY_MS };
      const expected = figure(id, rows.get(repoId) as Rows, period);
      const value = metrics[field as keyof PipelineMetrics] as number | null;
      if (expected === null) expect([metrics.repo, value]).toEqual([metrics.repo, null]);
      else expect(value).toBeCloseTo(round(expected), 6);
      if (value) nonZero += 1;
    }
    expect(nonZero).toBeGreaterThan(0);
  });

  test('the rates have their sample sizes', () => {
    for (const { repoId, metrics } of found.get(days) ?? []) {
      const from = END.getTime() - days * DAY_MS;
      const merged = rows.get(repoId)?.pullRequests.filter(({ mergedAt }) => mergedAt !== null && mergedAt >= from);
      expect(metrics.sampleSizes.merged).toBe(merged?.length);
      const failed = rows.get(repoId)?.writes.filter(({ status }) => status === 'failed');
      expect(metrics.vcsWriteQueueFailed).toBe(failed?.length);
      expect(metrics.sampleSizes.resolved === 0).toBe(metrics.successRatePct === null);
    }
  });
});

test('an empty repo has sums and counts of 0, and rates, means and medians of null', () => {
  const empty = found.get(7)?.find(({ metrics }) => metrics.repo === 'quiet/empty');
  expect(empty?.metrics).toEqual({
    repo: 'quiet/empty',
    windowDays: 7,
    computedAt: END.toISOString(),
    openIssues: 0,
    inFlight: 0,
    inProgress: 0,
    blocked: 0,
    awaitingReview: 0,
    throughput: 0,
    cycleTimeMinutes: null,
    successRatePct: null,
    reviewPassRatio: null,
    timeToFirstPrMs: null,
    avgReviewCycles: null,
    prRevertRatio: null,
    agentAttributionRatio: null,
    autonomousMergePct: null,
    costTodayUsd: 0,
    costWindowUsd: 0,
    dlqDepth: 0,
    pendingTaskCount: 0,
    avgQueueWaitMs: null,
    oldestPendingAgeMs: null,
    projectedDrainMs: null,
    vcsWriteQueueDepth: 0,
    vcsWriteQueueFailed: 0,
    sampleSizes: { resolved: 0, merged: 0 },
  });
});
