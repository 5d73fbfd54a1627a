import { DAY_MS, type Window, windowMs } from '@pipeline/domain';
import { figure, type MetricId, metric } from './metrics/metric.ts';
import { byText, iso, namesOf } from './names.ts';
import { byRepo } from './repo-rows.ts';
import type { Rows } from './rows.ts';

/** Reliability of every repo; a figure without rows is 0. */
export function weeklyReliabilityOf(rows: Rows, now: number) {
  const names = namesOf(rows.repos);
  const period = { from: now - 7 * DAY_MS, now };
  const alone = byRepo(rows);
  const repos = rows.repos.toSorted((a, b) => byText(a.slug, b.slug) || a.tenantId - b.tenantId);
  return {
    windowDays: 7,
    repos: repos.map(({ id }) => {
      const own = alone.get(id) ?? rows;
      const count = (name: MetricId) => figure(name, own, period);
      return {
        repo: names.get(id),
        completedCount: count('completed'),
        recoveredCount: count('recovered'),
        cycleTime: { p50Seconds: count('cycle_p50'), p90Seconds: count('cycle_p90') },
        deadLetters: { count: count('dead_letters') },
        retryBudget: { tasksRetried: count('tasks_retried'), totalRetriesConsumed: count('total_retries_consumed') },
      };
    }),
    degradedSeconds: figure('fleet_degraded_time', rows, period),
  };
}

export function retrospectivesOf(rows: Rows, window: Window, now: number) {
  const period = { from: now - windowMs(window), now };
  return {
    window,
    planDriftRatio: metric('plan_drift_rate', rows, period),
    withFileData: rows.retrospectives.filter(({ at, planned, actual }) => at >= period.from && planned && actual)
      .length,
    byOutcome: metric('outcome_distribution', rows, period),
    serverTimestamp: iso(now),
  };
}
