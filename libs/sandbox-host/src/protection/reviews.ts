import { allows } from '../access/roles.ts';
import type { PullIssue, RepoRecord, ReviewRecord, Sandbox } from '../state/model.ts';

/** The last verdict of each person with write access. */
export function verdictsOfPeople({ state }: Sandbox, repo: RepoRecord, issue: PullIssue): ReviewRecord[] {
  const last = new Map<string, ReviewRecord>();
  for (const review of state.list('review', repo.id, issue.number)) {
    if (review.state !== 'COMMENTED' && allows(repo, review.author, 'write')) last.set(review.author, review);
  }
  return [...last.values()];
}

/** Approvals that a push makes stale: those of earlier heads. */
export const staleApprovals = ({ state }: Sandbox, repo: RepoRecord, issue: PullIssue): ReviewRecord[] =>
  state
    .list('review', repo.id, issue.number)
    .filter((review) => review.state === 'APPROVED' && review.commitSha !== issue.pull.headSha);
