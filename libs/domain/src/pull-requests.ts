import { parseIssueNumber } from './slugs.ts';
import type { HostPullRequest } from './vcs.ts';

const OWN_BRANCH = /^svc\/issue-(\d+)$/;
const CLOSES = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\s*:?\s+#(\d+)\b/i;

/** The issue a pull request belongs to: by our branch name, or by a closing keyword in its text. */
export function linkedIssueNumber(pr: Pick<HostPullRequest, 'headRef' | 'body'>): number | null {
  const digits = OWN_BRANCH.exec(pr.headRef)?.[1] ?? CLOSES.exec(pr.body)?.[1];
  return digits === undefined ? null : parseIssueNumber(digits);
}

/** States in which the pull request is what everybody looks at, so that a close or a review of it counts. */
export const isReviewable = (state: string): boolean =>
  state === 'in-review' || state === 'human-review-ready' || state === 'merge-pending';
