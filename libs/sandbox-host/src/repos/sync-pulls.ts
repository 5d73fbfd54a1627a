import { announce, change, isPull, pullOf, saveIssue, setOpen } from '../changes/changes.ts';
import { branchRef } from '../git/git.ts';
import type { Sandbox } from '../state/context.ts';
import { timestamp } from '../state/context.ts';
import { parentOf } from '../state/head-repo.ts';
import type { RepoRecord } from '../state/model.ts';
import { fetchBranch } from './forks.ts';

/**
 * Applies what a push to a repository did to the branches of open pull requests, its own and those of the repository that
 * it is a fork of: a new head is `synchronize`, a deleted branch closes its pull request. Runs under the repo's lock; one
 * git process per open pull request, two for one of a fork whose head has moved.
 */
export async function syncPulls(sandbox: Sandbox, repo: RepoRecord, by: string): Promise<void> {
  const { state } = sandbox;
  const parent = parentOf(sandbox, repo);
  await syncHeads(sandbox, repo, repo, by);
  if (parent) await sandbox.lock(parent.id, () => syncHeads(sandbox, parent, repo, by));
  change(sandbox, () =>
    state.put('repo', 0, { ...(state.get('repo', 0, repo.id) ?? repo), pushedAt: timestamp(sandbox) }),
  );
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
      const saved = saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, headSha: head } });
      const extra = { before: pull.headSha, after: head };
      return announce(sandbox, repo, saved, { action: 'synchronize', by, extra });
    });
  }
}
