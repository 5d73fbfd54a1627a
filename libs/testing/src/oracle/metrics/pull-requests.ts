import type { Rows } from '../rows.ts';
import { isWithin, type Period } from './period.ts';

/** The pull requests of an issue, summarised. */
interface IssuePulls {
  issueId: number;
  firstOpenedAt: number;
  /** Null while none of them is merged. */
  firstMergedAt: number | null;
  /** True = no changes were requested before the first merge, and every pull request is by an agent. */
  isAutonomous: boolean;
}

/** The times at which changes were requested, by issue. */
const requestsByIssue = ({ transitions }: Rows): Map<number | null, number[]> =>
  new Map(
    [
      ...Map.groupBy(
        transitions.filter(({ to }) => to === 'changes-requested'),
        ({ issueId }) => issueId,
      ),
    ].map(([issueId, own]) => [issueId, own.map(({ at }) => at)]),
  );

/** Groups the pull requests by issue. */
export function pullsByIssue(rows: Rows): IssuePulls[] {
  const requests = requestsByIssue(rows);
  const linked = Map.groupBy(rows.pullRequests, ({ issueId }) => issueId);
  return [...linked].flatMap(([issueId, pullRequests]) => {
    if (issueId === null) return [];
    const merges = pullRequests.flatMap(({ mergedAt }) => mergedAt ?? []);
    const firstMergedAt = merges.length === 0 ? null : Math.min(...merges);
    const wasChanged = (requests.get(issueId) ?? []).some((at) => firstMergedAt !== null && at < firstMergedAt);
    const isAutonomous = !wasChanged && pullRequests.every(({ byAgent }) => byAgent);
    return [
      {
        issueId,
        firstOpenedAt: Math.min(...pullRequests.map(({ openedAt }) => openedAt)),
        firstMergedAt,
        isAutonomous,
      },
    ];
  });
}

/** PullRequest requests that were merged in the period, each with how often changes were requested before. */
export function mergedPulls(rows: Rows, period: Period): { isReverted: boolean; byAgent: boolean; cycles: number }[] {
  const requests = requestsByIssue(rows);
  return rows.pullRequests.flatMap(({ issueId, mergedAt, isReverted, byAgent }) => {
    if (!isWithin(period, mergedAt)) return [];
    const cycles = issueId === null ? [] : (requests.get(issueId) ?? []).filter((at) => at < mergedAt);
    return [{ isReverted, byAgent, cycles: cycles.length }];
  });
}

/** Issues whose first merge lies in the period. */
export const mergedIssues = (rows: Rows, period: Period): IssuePulls[] =>
  pullsByIssue(rows).filter(({ firstMergedAt }) => isWithin(period, firstMergedAt));
