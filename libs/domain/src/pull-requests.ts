import { patternText } from './pattern-text.ts';
import { parseIssueNumber, type Slug, slugKey } from './slugs.ts';
import type { HostPullRequest } from './vcs.ts';

const OWN_BRANCH = /^svc\/issue-(\d{1,10})$/;
/** Over pattern text: white space is single spaces. */
const CLOSES = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?: ?:)? #(\d{1,10})\b/i;

/** The issue a pull request belongs to: by our branch name, or by a closing keyword in its text. */
export function linkedIssueNumber(pr: Pick<HostPullRequest, 'headRef' | 'body'>): number | null {
  const digits = OWN_BRANCH.exec(pr.headRef)?.[1] ?? CLOSES.exec(patternText(pr.body))?.[1];
  return digits === undefined ? null : parseIssueNumber(digits);
}

/** States in which the pull request is what everybody looks at, so that a close or a review of it counts. */
export const isReviewable = (state: string): boolean =>
  state === 'in-review' || state === 'human-review-ready' || state === 'merge-pending';

const REVERTS = /\breverts ([\w.-]{1,100}\/[\w.-]{1,100})?#(\d{1,10})\b/gi;
const REVERTS_COMMIT = /\bthis reverts commit ([0-9a-f]{40})\b/gi;

/**
 * What a pull request takes back, as hosts and git word it: pull requests of its own repo by number, and commits of
 * merges by hash.
 */
export function revertedBy(body: string, repo: Slug): { numbers: number[]; shas: string[] } {
  const text = patternText(body);
  const numbers = [...text.matchAll(REVERTS)].flatMap(([, slug, digits]) => {
    const elsewhere = slug !== undefined && slug.toLowerCase() !== slugKey(repo);
    return elsewhere ? [] : (parseIssueNumber(digits ?? '') ?? []);
  });
  return { numbers, shas: [...text.matchAll(REVERTS_COMMIT)].map(([, sha = '']) => sha.toLowerCase()) };
}
