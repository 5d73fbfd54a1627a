import { announce, change, isPull, pullOf, saveIssue, setOpen } from './changes.ts';
import type { Sandbox } from './context.ts';
import { timestamp } from './context.ts';
import { branchRef } from './git.ts';
import type { RepoRecord } from './model.ts';

/**
 * Takes over what a push did to the branches of open pull requests: a new head is `synchronize`, a deleted branch closes
 * its pull request. Runs under the repo's lock; one git process per open pull request.
 */
export async function syncPulls(sandbox: Sandbox, repo: RepoRecord, by: string): Promise<void> {
  const { git, state } = sandbox;
  const dir = git.dir(repo);
  const open = state.list('issue', repo.id).filter((issue) => issue.state === 'open');
  for (const { number, pull } of open.filter(isPull)) {
    const head = await git.resolve(dir, branchRef(pull.headRef));
    if (head === pull.headSha) continue;
    if (head) await git.run(dir, ['update-ref', `refs/pull/${number}/head`, head]);
    const issue = pullOf(sandbox, repo, number);
    change(sandbox, () => {
      if (head === null) return setOpen(sandbox, repo, issue, { open: false, reason: null, by });
      const saved = saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, headSha: head } });
      const extra = { before: pull.headSha, after: head };
      return announce(sandbox, repo, saved, { action: 'synchronize', by, extra });
    });
  }
  change(sandbox, () =>
    state.put('repo', 0, { ...(state.get('repo', 0, repo.id) ?? repo), pushedAt: timestamp(sandbox) }),
  );
}
