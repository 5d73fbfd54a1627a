import type { State } from '../states.ts';
import type { Approval, Cause, IssueFacts } from './facts.ts';

type Facts = Pick<IssueFacts, 'pr' | 'dismissStale'>;

/** Returns whether the approval also applies to later pushes. */
const outlivesPushes = ({ pr, dismissStale }: Facts): boolean => pr?.approval?.source === 'person' && !dismissStale;

/** The one commit of the pull request that may be merged; null = none. */
export function approvedHead({ pr, dismissStale }: Facts): string | null {
  const isApproved = outlivesPushes({ pr, dismissStale }) || pr?.approval?.sha === pr?.headSha;
  return pr && isApproved ? pr.headSha : null;
}

/**
 * Returns whether an outcome is about a commit that is not the head of the pull request, so that it does not apply to
 * the head.
 */
export function isAboutOtherCommit(issue: Facts, { outcome, headSha }: Cause): boolean {
  if (!issue.pr) return false;
  if (outcome?.outcome === 'approved') return headSha !== issue.pr.headSha;
  if (outcome?.outcome !== 'mergeable') return false;
  // The merge names the full approved commit, so an abbreviation by the worker is harmless.
  return !approvedHead(issue)?.startsWith(outcome.result.headSha);
}

/** Returns whether a person's approval is for a commit that is not the head, while such approvals do not count. */
export const isStaleReview = ({ pr, dismissStale }: Facts, { trigger, headSha }: Cause): boolean =>
  trigger === 'review-approved' && pr !== null && dismissStale && headSha !== pr.headSha;

/** A new head needs a new review, unless an approval that outlives pushes waits for its merge. */
export const stateAfterPush = (issue: Facts, origin: State): State =>
  origin === 'merge-pending' && outlivesPushes(issue) ? origin : 'in-review';

/**
 * The approval that a transition to merge-pending records; null = it changes no approval. An operator who moves an
 * issue there approves the head known at that moment.
 */
export function approvalBy({ pr }: Facts, { trigger, headSha }: Cause, target: State): Approval | null {
  if (!pr || target !== 'merge-pending') return null;
  if (trigger === 'approved') return { sha: pr.headSha, source: 'agent' };
  if (trigger === 'review-approved') return { sha: headSha ?? pr.headSha, source: 'person' };
  return trigger === 'operator' ? { sha: pr.headSha, source: 'person' } : null;
}
