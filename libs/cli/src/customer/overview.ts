import { table } from '../command/table.ts';
import type { PipelineOverview } from './operations.ts';
import { ago, cell, lines, usdWith } from './render.ts';

const ROWS = 10;

/** Formats the overview of a repository; of each list the first rows. */
export function overviewText(overview: PipelineOverview): string {
  const { workerPool: pool, cost, serverTimestamp: now } = overview;
  const counts = Object.entries(overview.issuesByState).filter(([, count]) => count > 0);
  const blocked = overview.blockedIssues
    .slice(0, ROWS)
    .map((one) => [`#${one.issueNumber}`, ago(one.blockedSince, now), cell(one.title), cell(one.blockReason)]);
  const failures = overview.recentFailures
    .slice(0, ROWS)
    .map((one) => [
      one.issueNumber === null ? null : `#${one.issueNumber}`,
      ago(one.finishedAt, now),
      cell(one.agentName),
      cell(one.errorMessage),
    ]);
  return lines(
    `${cell(overview.repo)}: ${overview.openIssues} open issues, ${overview.queueDepth.total} pending tasks, ${overview.inFlightTasks.length} running`,
    `workers: ${pool.total} (${pool.busy} busy, ${pool.idle} idle, ${pool.offline} offline)`,
    `cost: ${usdWith(cost.last24hUsd, cost.last24hUnreportedCosts)} in 24 h, ${usdWith(cost.lifetimeUsd, cost.lifetimeUnreportedCosts)} in all`,
    `dead letters: ${overview.dlqDepth}; host writes waiting: ${overview.vcsWriteQueueDepth}, failed: ${overview.vcsWriteQueueFailed}`,
    '',
    table(['STATE', 'ISSUES'], counts, 'no issues'),
    blocked.length > 0 && `\n${table(['BLOCKED', 'FOR', 'TITLE', 'REASON'], blocked, '')}`,
    failures.length > 0 && `\n${table(['FAILED', 'AGO', 'AGENT', 'ERROR'], failures, '')}`,
  );
}
