import {
  estimateOf,
  type MetricWindowDays,
  type PipelineMetrics,
  projectedDrainMs,
  standingOf,
} from '@pipeline/domain';
import type { Counts, Figures, Live } from './dashboard-readings.ts';
import { namesOf, repoKey } from './dashboard-repo-names.ts';

interface Readings {
  counts: Counts;
  live: Live;
  figures: Figures;
}

/**
 * The figures of every repo that has been read, by its display name. Figures over the window are as old as the last
 * refresh; states and waiting tasks are newer.
 */
export function dashboardMetrics(
  { counts, live, figures }: Readings,
  days: MetricWindowDays,
): Record<string, PipelineMetrics> {
  const names = namesOf(counts.repos);
  const states = grouped(counts.counts);
  const queues = queuesOf(live);
  const metrics = counts.repos.flatMap((repo) => {
    const key = repoKey(repo);
    const looked = figures[days].get(key);
    if (!looked) return [];
    const name = names.get(key) ?? looked.repo;
    return [[name, { ...looked, repo: name, ...standingOf(states.get(key) ?? []), ...queues(key) }] as const];
  });
  return Object.fromEntries(metrics);
}

/** Waiting tasks, dead letters and host writes of each repo, by its key. */
function queuesOf({ work, deadLetters, writes }: Live) {
  const workOf = grouped(work);
  const deadLettersOf = grouped(deadLetters);
  const writesOf = grouped(writes);
  return (key: string) => {
    const waiting = (workOf.get(key) ?? []).filter(({ pending }) => pending > 0);
    const pending = sum(waiting.map((of) => of.pending));
    const written = writesOf.get(key) ?? [];
    return {
      dlqDepth: sum((deadLettersOf.get(key) ?? []).map(({ n }) => n)),
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
