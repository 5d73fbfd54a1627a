import { branchRef } from '../git/git.ts';
import { announce, isPull, issueOf, pullOf, saveIssue, setOpen } from '../issues/changes.ts';
import { GLOBAL, type PullIssue, type RepoRecord, type Sandbox } from '../state/model.ts';
import { change, timestamp } from '../state/sandbox.ts';

/*
 * A merge changes git and the record, and a kill may fall between the two. The record first names which commit the base
 * branch is about to get; after a restart the branch itself shows whether it did.
 */

export function startMerge(
  sandbox: Sandbox,
  repo: RepoRecord,
  number: number,
  merging: NonNullable<PullIssue['pull']['merging']>,
): void {
  const issue = pullOf(sandbox, repo, number);
  change(sandbox, () => saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, merging } }));
}

/** Writes down what the branch shows: merged, with the issues that its text closes. */
export function finishMerge(sandbox: Sandbox, repo: RepoRecord, number: number): void {
  const issue = pullOf(sandbox, repo, number);
  const { merging } = issue.pull;
  if (!merging) return;
  change(sandbox, () => {
    const at = timestamp(sandbox);
    const saved = saveIssue(sandbox, repo, {
      ...issue,
      state: 'closed' as const,
      closedAt: at,
      closedBy: merging.by,
      pull: { ...issue.pull, mergedAt: at, mergedBy: merging.by, mergeSha: merging.sha, merging: null },
    });
    announce(sandbox, repo, saved, { action: 'closed', by: merging.by });
    if (issue.pull.baseRef === repo.defaultBranch) closeNamed(sandbox, repo, saved, merging.by);
  });
}

const CLOSES = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)/gi;

/** Closes issue 12 when "Fixes #12" stands in a merged pull request, as on the real host. */
function closeNamed(sandbox: Sandbox, repo: RepoRecord, pull: PullIssue, by: string): void {
  for (const [, digits] of (pull.body ?? '').matchAll(CLOSES)) {
    if (!sandbox.state.get('issue', repo.id, Number(digits))) continue;
    const issue = issueOf(sandbox, repo, Number(digits));
    if (!isPull(issue)) setOpen(sandbox, repo, issue, { open: false, reason: 'completed', by });
  }
}

/** Settles what a crash left: called once at start, before the first request. */
export async function settleMerges(sandbox: Sandbox): Promise<void> {
  for (const repo of sandbox.state.list('repo', GLOBAL)) {
    for (const issue of sandbox.state.list('issue', repo.id).filter(isPull)) {
      const { merging, baseRef } = issue.pull;
      if (!merging) continue;
      const dir = sandbox.git.dir(repo);
      const tip = await sandbox.git.resolve(dir, branchRef(baseRef));
      const known = await sandbox.git.resolve(dir, merging.sha);
      if (tip && known && (await sandbox.git.contains(dir, tip, merging.sha))) finishMerge(sandbox, repo, issue.number);
      else change(sandbox, () => saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, merging: null } }));
    }
  }
}
