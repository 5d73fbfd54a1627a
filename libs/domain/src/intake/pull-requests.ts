import { parseIssueNumber, type Slug, slugKey } from '../slugs.ts';
import { patternText } from '../text/pattern.ts';
import type { HostPullRequest, RepoRef } from '../vcs/host.ts';

const OWN_BRANCH = /^svc\/issue-(\d{1,10})$/;
/** Over pattern text: white space is single spaces. */
const CLOSES = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?: ?:)? #(\d{1,10})\b/i;

type HeadRepo = Pick<HostPullRequest, 'headRepo' | 'headRepoId'>;

/**
 * Returns whether the branch of a pull request is in the repository itself: by its id where both are known, else by its
 * slug.
 */
export function isOwnBranch({ headRepo, headRepoId }: HeadRepo, repo: RepoRef): boolean {
  if (repo.hostId != null && headRepoId !== undefined) return headRepoId === repo.hostId;
  return headRepo?.toLowerCase() === slugKey(repo);
}

/**
 * Returns whether a pull request was opened by one of these logins from a branch of the repository itself. A branch
 * name alone proves nothing: every account can give a branch of a fork any name. Logins and slugs are compared
 * case-insensitively.
 */
export function isOpenedBy(
  logins: readonly string[],
  pr: HeadRepo & Pick<HostPullRequest, 'author'>,
  repo: RepoRef,
): boolean {
  const author = pr.author?.toLowerCase();
  return isOwnBranch(pr, repo) && logins.some((login) => login.toLowerCase() === author);
}

/** Returns whether the branch is the pipeline's work branch of an issue. */
export const isWorkBranch = (headRef: string): boolean => OWN_BRANCH.test(headRef);

/**
 * The issue of a pull request: by its branch name if it is the pipeline's own, else by a closing keyword in its text.
 */
export function linkedIssueNumber(pr: Pick<HostPullRequest, 'headRef' | 'body'>, isOwn: boolean): number | null {
  const digits = (isOwn ? OWN_BRANCH.exec(pr.headRef)?.[1] : undefined) ?? CLOSES.exec(patternText(pr.body))?.[1];
  return digits === undefined ? null : parseIssueNumber(digits);
}

const REVERTS = /\breverts ([\w.-]{1,100}\/[\w.-]{1,100})?#(\d{1,10})\b/gi;
const REVERTS_COMMIT = /\bthis reverts commit ([0-9a-f]{40})\b/gi;

/**
 * Finds what a pull request reverts, in the wording of hosts and git: pull requests of its own repo by number, and
 * merge commits by hash.
 */
export function revertedBy(body: string, repo: Slug): { numbers: number[]; shas: string[] } {
  const text = patternText(body);
  const numbers = [...text.matchAll(REVERTS)].flatMap(([, slug, digits]) => {
    const elsewhere = slug !== undefined && slug.toLowerCase() !== slugKey(repo);
    return elsewhere ? [] : (parseIssueNumber(digits ?? '') ?? []);
  });
  return { numbers, shas: [...text.matchAll(REVERTS_COMMIT)].map(([, sha = '']) => sha.toLowerCase()) };
}
