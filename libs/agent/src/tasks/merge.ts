import type { ClaimedTask } from '@pipeline/contract';
import { checkedOutcome, type TaskContext, type Verdict } from '@pipeline/worker';
import type { HostAccess, Mirror } from '../git/mirror.ts';
import { workBranch } from '../git/starting-point.ts';

/** Reports whether the reviewed commit can be merged now, from git alone. The service does the merge. */
export async function judgeMerge(
  task: ClaimedTask,
  mirror: Mirror,
  access: HostAccess,
  { record }: Pick<TaskContext, 'record'>,
): Promise<Verdict> {
  const { pr, repo } = task.payload;
  const branch = pr?.headRef ?? workBranch(task);
  const heads = await mirror.fetch([repo.defaultBranch, branch], access);
  const [base, head] = [heads.get(repo.defaultBranch), heads.get(branch)];
  const notReady = (reason: string) => checkedOutcome(task, 'not-ready', { reason });
  if (!pr) return notReady('No pull request is known.');
  if (!head || !base) return notReady(`The host has no branch ${head ? repo.defaultBranch : branch}.`);
  if (pr.headSha !== null && pr.headSha !== head)
    return notReady(`${branch} has moved from ${pr.headSha} to ${head}: review it again.`);
  if ((await mirror.mergeBase(base, head, access)) === null)
    return notReady(`${branch} and ${repo.defaultBranch} have no common history.`);
  const { conflicts } = await mirror.merge(base, head);
  const status = conflicts.length > 0 ? `${conflicts.length} conflicts` : `${head.slice(0, 10)} merges cleanly`;
  record({ type: 'progress', status, details: null });
  return conflicts.length > 0
    ? checkedOutcome(task, 'conflict', { files: conflicts })
    : checkedOutcome(task, 'mergeable', { headSha: head });
}
