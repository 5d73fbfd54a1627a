import type { Sandbox } from '../state/context.ts';
import type { PullIssue, RepoRecord } from '../state/model.ts';
import { allows } from './roles.ts';

/** Whether nobody pushes to a branch but by a pull request. */
export const isProtected = (repo: RepoRecord, branch: string): boolean =>
  repo.requiredApprovals > 0 && branch === repo.defaultBranch;

/** How many approving reviews of people with write access a merge still lacks; each one's last verdict counts. */
export function missingApprovals({ state }: Sandbox, repo: RepoRecord, issue: PullIssue): number {
  const verdicts = new Map<string, string>();
  for (const review of state.list('review', repo.id, issue.number)) {
    if (review.state !== 'COMMENTED' && allows(repo, review.author, 'write')) {
      verdicts.set(review.author, review.state);
    }
  }
  const approvals = [...verdicts.values()].filter((verdict) => verdict === 'APPROVED').length;
  return Math.max(0, repo.requiredApprovals - approvals);
}
