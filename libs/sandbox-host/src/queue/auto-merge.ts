import { announce, isPull, saveIssue } from '../issues/changes.ts';
import type { MergeMethod, PullIssue, RepoRecord, Sandbox } from '../state/model.ts';
import { change } from '../state/sandbox.ts';

/** Leaves a merge to the host, or takes it back with a method of null. */
export function setAutoMerge(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: PullIssue,
  { method, by }: { method: MergeMethod | null; by: string },
): PullIssue {
  return change(sandbox, () => {
    const autoMerge = method === null ? undefined : { method, by };
    const saved = saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, autoMerge } });
    const action = method === null ? 'auto_merge_disabled' : 'auto_merge_enabled';
    announce(sandbox, repo, saved, { action, by });
    return saved;
  });
}

export const waitingForMerge = ({ state }: Sandbox, repoId: number): PullIssue[] =>
  state
    .list('issue', repoId)
    .filter(isPull)
    .filter(({ state: is, pull }) => is === 'open' && pull.autoMerge !== undefined);
