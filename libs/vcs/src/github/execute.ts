import type { ExecuteResult, ProjectionAction, ProjectionType } from '@pipeline/domain';
import { answered, toResult } from './errors.ts';
import { postComment, updateComment } from './execute-comments.ts';
import { deleteBranch, setCommitStatus } from './execute-git.ts';
import { assignIssue, closeIssue, createIssue, linkSubIssue, reopenIssue } from './execute-issues.ts';
import { addLabels, removeLabels, swapLabels } from './execute-labels.ts';
import { mergePR, updateBranch } from './execute-merge.ts';
import { closePR, createPR, requestReview, submitReview, updatePR } from './execute-pulls.ts';
import { paramsOf } from './repo-address.ts';
import type { Executor, Target } from './target.ts';

interface Step<T extends ProjectionType> {
  run: Executor<T>;
  /** True when doing it twice would show on the host. */
  once: boolean;
}

const STEPS: { [T in ProjectionType]: Step<T> } = {
  addLabels: { run: addLabels, once: false },
  removeLabels: { run: removeLabels, once: false },
  swapLabels: { run: swapLabels, once: false },
  closeIssue: { run: closeIssue, once: true },
  reopenIssue: { run: reopenIssue, once: false },
  postComment: { run: postComment, once: true },
  updateComment: { run: updateComment, once: true },
  createIssue: { run: createIssue, once: true },
  linkSubIssue: { run: linkSubIssue, once: true },
  assignIssue: { run: assignIssue, once: false },
  createPR: { run: createPR, once: true },
  updatePR: { run: updatePR, once: false },
  requestReview: { run: requestReview, once: true },
  submitReview: { run: submitReview, once: true },
  mergePR: { run: mergePR, once: true },
  updateBranch: { run: updateBranch, once: false },
  closePR: { run: closePR, once: true },
  deleteBranch: { run: deleteBranch, once: true },
  setCommitStatus: { run: setCommitStatus, once: true },
};

/** Carries out one action. It never throws: whatever went wrong is in the answer. */
export async function execute(target: Target, action: ProjectionAction, now: () => Date): Promise<ExecuteResult> {
  try {
    return await runStep(action.type, target, action as never);
  } catch (error) {
    const result = toResult(error, now(), STEPS[action.type].once);
    const mayLackAccess = result.status === 'refused' && (result.httpStatus === 403 || result.httpStatus === 404);
    return mayLackAccess ? ((await lostAccess(target)) ?? result) : result;
  }
}

const runStep = <T extends ProjectionType>(type: T, target: Target, action: Extract<ProjectionAction, { type: T }>) =>
  STEPS[type].run(target, action as never);

/**
 * Finds whether a write was refused because of the repository and not of its content: a host answers both with the same
 * status. One request.
 * @returns null when the repository can be read and written, or is not known to be out of reach.
 */
async function lostAccess({ client, repo }: Target): Promise<ExecuteResult | null> {
  const name = `${repo.owner}/${repo.name}`;
  try {
    const { data } = await client.rest.repos.get(paramsOf(repo));
    return data.archived ? { status: 'no-access', message: `${name} is archived: unarchive it on the host` } : null;
  } catch (error) {
    const message = `${name} cannot be reached: give the identity of the pipeline access to it, or disable the repository`;
    if (answered(error, 404)) return { status: 'no-access', message };
    const result = toResult(error, new Date(), false);
    return result.status === 'no-access' ? result : null;
  }
}
