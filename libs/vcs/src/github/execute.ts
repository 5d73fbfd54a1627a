import type { ExecuteResult, ProjectionAction, ProjectionType } from '@pipeline/domain';
import { answered, toResult } from './errors.ts';
import { postComment, updateComment } from './execute-comments.ts';
import { assignIssue, closeIssue, createIssue, linkSubIssue, reopenIssue } from './execute-issues.ts';
import { headOf, mergePR, updateBranch } from './execute-merge.ts';
import { closePR, createPR, requestReview, submitReview, updatePR } from './execute-pulls.ts';
import { paramsOf } from './repo-address.ts';
import { done, type Executor, repeated, type Target } from './target.ts';

const issueOf = (target: Target) => ({ ...target.at, issue_number: target.issueNumber });

/** Adding a label that is there changes nothing, so no look is needed before a repetition. */
const addLabels: Executor<'addLabels'> = async (target, { labels }) => {
  if (labels.length === 0) return repeated();
  await target.client.rest.issues.addLabels({ ...issueOf(target), labels });
  return done();
};

const removeLabels: Executor<'removeLabels'> = async (target, { labels }) => {
  let removed = 0;
  for (const name of labels) if (await removeLabel(target, name)) removed += 1;
  return removed === 0 ? repeated() : done();
};

/** Adds first: an attempt that breaks off leaves an issue with two labels of ours, never with none. */
const swapLabels: Executor<'swapLabels'> = async (target, { remove, add }) => {
  const added = await addLabels(target, { type: 'addLabels', labels: add });
  const removed = await removeLabels(target, {
    type: 'removeLabels',
    labels: remove.filter((label) => !add.includes(label)),
  });
  return added.status === 'ok' && !added.repeated ? added : removed;
};

const deleteBranch: Executor<'deleteBranch'> = async (target, { branch }) => {
  try {
    await target.client.rest.git.deleteRef({ ...target.at, ref: `heads/${branch}` });
    return done();
  } catch (error) {
    // A missing branch is a 422 with these words; other 422s (a protected branch) and a missing repository are not.
    if (answered(error, 422) && /reference does not exist/i.test(error.message)) return repeated();
    throw error;
  }
};

const MAX_DESCRIPTION = 140;

const setCommitStatus: Executor<'setCommitStatus'> = async (target, action) => {
  const { client, at } = target;
  const { sha, prNumber, context, state } = action;
  const description = action.description.slice(0, MAX_DESCRIPTION);
  // The head that a worker reported may be any commit: the status of another one is not the pipeline's to set.
  if (prNumber !== undefined && (await headOf(target, prNumber)) !== sha) return repeated({ sha });
  if (target.context.mayHaveHappened) {
    const { data } = await client.rest.repos.getCombinedStatusForRef({ ...at, ref: sha, per_page: 100 });
    const found = data.statuses.find((status) => status.context === context);
    if (found?.state === state && found.description === description) return repeated({ sha });
  }
  const link = action.targetUrl === null ? {} : { target_url: action.targetUrl };
  await client.rest.repos.createCommitStatus({ ...at, sha, context, state, description, ...link });
  return done({ sha });
};

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

/** @returns false when the issue did not carry the label; throws the host's 404 when there is no such issue. */
async function removeLabel(target: Target, name: string): Promise<boolean> {
  try {
    await target.client.rest.issues.removeLabel({ ...issueOf(target), name });
    return true;
  } catch (error) {
    if (!answered(error, 404)) throw error;
    // The same status stands for a missing label and a missing issue.
    await target.client.rest.issues.get(issueOf(target));
    return false;
  }
}
