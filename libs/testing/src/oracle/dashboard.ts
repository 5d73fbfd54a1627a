import { DAY_MS, STATES, utcMidnight } from '@pipeline/domain';
import { round, usdOf } from './arithmetic.ts';
import { costByWindowOf } from './costs.ts';
import { IN_FLIGHT } from './metrics/issues.ts';
import { figure, type MetricId } from './metrics/metric.ts';
import { byText, namesOf } from './names.ts';
import { byRepo } from './repo-rows.ts';
import type { Rows } from './rows.ts';
import { workerPoolsOf } from './workers.ts';

/** What the dashboard says of the store; the rest of it is about the monitor itself. */
export function dashboardOf(rows: Rows, days: 7 | 30, now: number) {
  const open = rows.issues.filter(({ state }) => state !== 'done');
  return {
    costTotalUsd: usdOf(rows.costs),
    costByWindow: costByWindowOf(rows, now),
    tenants: tenantsOf(rows, now),
    metrics: metricsByRepo(rows, days, now),
    workerPool: workerPoolsOf(rows, now),
    pipelineSummary: {
      ...Object.fromEntries(STATES.map((state) => [state, rows.issues.filter((one) => one.state === state).length])),
      paused: open.filter(({ isPaused }) => isPaused).length,
      blocked: open.filter(({ isBlocked }) => isBlocked).length,
    },
  };
}

function metricsByRepo(rows: Rows, days: 7 | 30, now: number) {
  const names = namesOf(rows.repos);
  return Object.fromEntries(
    [...byRepo(rows)].map(([id, own]) => {
      const name = names.get(id) ?? '';
      return [name, { repo: name, windowDays: days, ...pipelineMetricsOf(own, days, now) }];
    }),
  );
}

/** The figures of one repo, each by its definition in the registry. */
function pipelineMetricsOf(rows: Rows, days: number, now: number) {
  const period = { from: now - days * DAY_MS, now };
  const of = (id: MetricId) => figure(id, rows, period);
  const rounded = (id: MetricId, digits: number) => {
    const value = of(id);
    return value === null ? null : round(value, digits);
  };
  const done = new Set(
    rows.transitions.filter(({ to, at }) => to === 'done' && at >= period.from).map((m) => m.issueId),
  );
  const merged = new Set(rows.pullRequests.filter(({ mergedAt }) => mergedAt !== null).map(({ issueId }) => issueId));
  const paused = rows.issues.filter(({ isPaused, pausedAt }) => isPaused && (pausedAt ?? 0) >= period.from);
  return {
    openIssues: of('open_issues'),
    inFlight: of('in_flight'),
    inProgress: of('in_progress'),
    blocked: of('blocked'),
    awaitingReview: of('awaiting_review'),
    throughput: of('throughput'),
    cycleTimeMinutes: rounded('cycle_time', 1),
    successRatePct: of('success_rate'),
    reviewPassRatio: of('review_pass_rate'),
    timeToFirstPrMs: rounded('time_to_first_pr', 0),
    avgReviewCycles: of('avg_review_cycles'),
    prRevertRatio: of('pr_revert_rate'),
    agentAttributionRatio: of('agent_attribution'),
    autonomousMergePct: of('autonomous_merge_rate'),
    costTodayUsd: of('cost_today'),
    costWindowUsd: of('cost'),
    dlqDepth: of('dlq_depth'),
    pendingTaskCount: of('pending_tasks'),
    avgQueueWaitMs: rounded('avg_queue_wait', 0),
    oldestPendingAgeMs: of('oldest_pending_age'),
    projectedDrainMs: of('projected_drain'),
    vcsWriteQueueDepth: of('write_queue'),
    vcsWriteQueueFailed: rows.writes.filter(({ status }) => status === 'failed').length,
    sampleSizes: {
      resolved: [...done].filter((id) => merged.has(id)).length + paused.length,
      merged: rows.pullRequests.filter(({ mergedAt }) => (mergedAt ?? 0) >= period.from).length,
    },
  };
}

/** Spending of each tenant in this day and month, and its issues in flight. */
function tenantsOf(rows: Rows, now: number) {
  const at = new Date(now);
  const month = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  const next = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
  const exactly = (repos: Set<number>, since: number) =>
    rows.costs.reduce(
      (sum, { at: time, repoId, usd }) => sum + (time >= since && repos.has(repoId) ? Math.round(usd * 1e6) : 0),
      0,
    ) / 1e6;
  const unreported = (repos: Set<number>, since: number) =>
    rows.invocations.filter(({ at: time, repoId, isReported }) => !isReported && time >= since && repos.has(repoId))
      .length;
  const everything = new Set(rows.repos.map(({ id }) => id));
  const tenants = rows.tenants.map(({ id, externalId }) => {
    const repos = new Set(rows.repos.filter(({ tenantId }) => tenantId === id).map((repo) => repo.id));
    const spent = exactly(repos, month);
    return {
      tenantId: id,
      externalId,
      spentTodayUsd: round(exactly(repos, utcMidnight(at).getTime()), 4),
      spentMonthUsd: round(spent, 4),
      unreportedCostsToday: unreported(repos, utcMidnight(at).getTime()),
      unreportedCostsMonth: unreported(repos, month),
      projectedMonthUsd: round((spent / (now - month)) * (next - month), 4),
      inFlightIssues: rows.issues.filter(({ repoId, state }) => repos.has(repoId) && IN_FLIGHT.includes(state)).length,
    };
  });
  return {
    tenants: tenants.sort((a, b) => byText(a.externalId, b.externalId)),
    totalSpentTodayUsd: round(exactly(everything, utcMidnight(at).getTime()), 4),
    totalSpentMonthUsd: round(exactly(everything, month), 4),
  };
}
