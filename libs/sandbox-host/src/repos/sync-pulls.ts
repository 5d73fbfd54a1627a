import { allows } from '../access/roles.ts';
import { fetchBranch } from '../git/fetch-branch.ts';
import { branchRef } from '../git/git.ts';
import { announce, announceReview, isPull, pullOf, saveIssue, setOpen } from '../issues/changes.ts';
import { staleApprovals } from '../protection/reviews.ts';
import { rulesOf } from '../protection/rules.ts';
import type { PullIssue, RepoRecord, Sandbox } from '../state/model.ts';
import { change, parentOf, timestamp } from '../state/sandbox.ts';
import { recordActivity } from './activity.ts';

/**
 * Applies what a push to a repository did to the branches of open pull requests, its own and those of the repository that
 * it is a fork of: a new head is `synchronize`, a deleted branch closes its pull request. Runs under the repo's lock; one
 * git process per open pull request, two for one of a fork whose head has moved.
 */
export async function syncPulls(sandbox: Sandbox, repo: RepoRecord, by: string): Promise<void> {
  const { state } = sandbox;
  const parent = parentOf(sandbox, repo);
  await recordActivity(sandbox, repo, by);
  await syncHeads(sandbox, repo, repo, by);
  if (parent) await sandbox.lock(parent.id, () => syncHeads(sandbox, parent, repo, by));
  change(sandbox, () =>
    state.put('repo', 0, { ...(state.get('repo', 0, repo.id) ?? repo), pushedAt: timestamp(sandbox) }),
  );
  for (const { id } of parent ? [repo, parent] : [repo]) {
    sandbox.ci.consider({ id });
    sandbox.queue.consider({ id });
  }
}

/** Pull requests of `repo` whose branch lives in `from`. */
async function syncHeads(sandbox: Sandbox, repo: RepoRecord, from: RepoRecord, by: string): Promise<void> {
  const { git, state } = sandbox;
  const open = state.list('issue', repo.id).filter((issue) => issue.state === 'open');
  for (const { number, pull } of open.filter(isPull)) {
    if ((pull.headRepoId ?? repo.id) !== from.id) continue;
    const head = await git.resolve(git.dir(from), branchRef(pull.headRef));
    if (head === pull.headSha) continue;
    if (head) await fetchBranch(sandbox, repo, from, pull.headRef);
    if (head) await git.run(git.dir(repo), ['update-ref', `refs/pull/${number}/head`, head]);
    const issue = pullOf(sandbox, repo, number);
    change(sandbox, () => {
      if (head === null) return setOpen(sandbox, repo, issue, { open: false, reason: null, by });
      // Who left the merge to the host has not seen a push of a person without write access.
      const isTakenBack = pull.autoMerge !== undefined && !allows(repo, by, 'write');
      const autoMerge = isTakenBack ? undefined : pull.autoMerge;
      const saved = saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, headSha: head, autoMerge } });
      if (isTakenBack) announce(sandbox, repo, saved, { action: 'auto_merge_disabled', by });
      const extra = { before: pull.headSha, after: head };
      announce(sandbox, repo, saved, { action: 'synchronize', by, extra });
      if (rulesOf(sandbox, repo, pull.baseRef).dismissStale) dismissStale(sandbox, repo, saved, by);
      return saved;
    });
  }
}

/** Dismisses the approvals of earlier heads after a push, as the branch's rules require. */
function dismissStale(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue, by: string): void {
  for (const review of staleApprovals(sandbox, repo, issue)) {
    const dismissed = { ...review, state: 'DISMISSED' as const };
    sandbox.state.put('review', repo.id, dismissed, { parent: issue.number });
    announceReview(sandbox, repo, issue, { action: 'dismissed', review: dismissed, by });
  }
}
