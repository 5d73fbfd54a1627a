import type { ClaimedTask } from '@pipeline/contract';
import { branchOf } from '@pipeline/domain';
import { AgentFailure } from '../agents/failures.ts';
import type { HostAccess, Mirror } from './mirror.ts';
import type { StartingPoint } from './work-tree.ts';

type Task = Pick<ClaimedTask, 'taskType' | 'issueNumber' | 'payload'>;

/** Returns the branch that a task works on; the default branch for tasks without an issue. */
export function workBranch({ payload, issueNumber }: Task): string {
  return payload.branch ?? (issueNumber === null ? payload.repo.defaultBranch : branchOf(issueNumber));
}

/**
 * Fetches the branches of a task and returns where its work begins: a develop task at its branch with the default branch
 * merged into it, a review at the commit of the pull request, any other task at the default branch.
 * @throws AgentFailure when the default branch or the reviewed commit does not exist.
 */
export async function startingPoint(task: Task, mirror: Mirror, access: HostAccess): Promise<StartingPoint> {
  const { defaultBranch, slug } = task.payload.repo;
  const branch = workBranch(task);
  const heads = await mirror.fetch([...new Set([defaultBranch, branch])], access);
  const base = heads.get(defaultBranch);
  if (!base) throw new AgentFailure('permanent', `${slug} has no branch ${defaultBranch} to work on`);
  const head = branch === defaultBranch ? null : (heads.get(branch) ?? null);
  const point = { branch, base, defaultBranch, head, conflicts: [] };
  if (task.taskType === 'review') {
    const reviewed = await reviewedCommit(task, head, mirror, access);
    return { ...point, parents: [reviewed], tree: reviewed };
  }
  if (task.taskType !== 'develop' || head === null) return { ...point, parents: [base], tree: base };
  return { ...point, ...(await merged(mirror, head, base, access)) };
}

async function reviewedCommit(task: Task, head: string | null, mirror: Mirror, access: HostAccess): Promise<string> {
  const commit = task.payload.pr?.headSha ?? head;
  if (commit === null)
    throw new AgentFailure('permanent', `the branch ${workBranch(task)} does not exist: nothing to review`);
  if (commit === head || (await mirror.fetchCommit(commit, access))) return commit;
  throw new AgentFailure('transient', `the commit ${commit} to review is no longer on ${workBranch(task)}`);
}

async function merged(mirror: Mirror, head: string, base: string, access: HostAccess) {
  const common = await mirror.mergeBase(head, base, access);
  if (common === base) return { parents: [head], tree: head, conflicts: [] };
  if (common === null) throw new AgentFailure('permanent', 'the branch and the default branch have no common history');
  const { tree, conflicts } = await mirror.merge(head, base);
  return { parents: [head, base], tree, conflicts };
}
