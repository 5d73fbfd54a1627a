import type { Reply } from '../../api/types.ts';

export type BlockedIssue = Reply<'listBlockedIssues'>['issues'][number];

export interface BlockedGroup {
  key: string;
  reason: string;
  /** Latest error of one of the issues; null without one. */
  sample: string | null;
  first: string | null;
  last: string | null;
  issues: BlockedIssue[];
}

export const repoOf = ({ owner, repo }: Pick<BlockedIssue, 'owner' | 'repo'>): string => `${owner}/${repo}`;

/** Returns the issues grouped by block reason and error pattern, the largest group first. */
export function groupsOf(issues: readonly BlockedIssue[]): BlockedGroup[] {
  const groups = Map.groupBy(issues, (issue) => `${issue.blockReason ?? 'unknown'} ${issue.errorPattern ?? ''}`.trim());
  return [...groups]
    .map(([key, own]) => {
      const times = own.flatMap(({ blockedSince }) => blockedSince ?? []).sort();
      return {
        key,
        reason: own[0]?.blockReason ?? 'unknown',
        sample: own.find(({ lastError }) => lastError !== null)?.lastError ?? null,
        first: times[0] ?? null,
        last: times.at(-1) ?? null,
        issues: own,
      };
    })
    .sort((a, b) => b.issues.length - a.issues.length || (a.key < b.key ? -1 : 1));
}
