import type { ClaimedTask } from '@pipeline/contract';
import { withoutClosingWords } from '@pipeline/domain';
import { checkedOutcome, failure, type Verdict } from '@pipeline/worker';
import type { KnownSecrets } from '../agents/known-secrets.ts';
import type { HostAccess, Mirror } from '../git/mirror.ts';
import { GitFailure } from '../git/run-git.ts';
import type { StoredFiles, WorkTree } from '../git/work-tree.ts';
import type { AgentVerdict } from '../prompts/verdict.ts';

export interface Submission {
  task: ClaimedTask;
  mirror: Mirror;
  tree: WorkTree;
  /** No file that is pushed contains one. */
  secrets: KnownSecrets;
  /** Requests credentials, which fails when the claim is lost: nothing is pushed without a claim. */
  access(): Promise<HostAccess>;
}

/** Author of the comments that the pipeline makes of failed checks. */
const CHECKS_AUTHOR = 'checks';

type Pull = { title: string; body: string };

/**
 * Returns what an agent has to change before its submission is accepted; null = nothing. The files are read inside the box
 * alone, because the agent still runs; objects are checked in the mirror.
 */
export async function problemOf(submission: Submission, { outcome }: AgentVerdict): Promise<string | null> {
  if (outcome !== 'submitted') return null;
  try {
    return await problemOfFiles(submission, await submission.tree.stored());
  } catch (error) {
    if (error instanceof GitFailure) return `git cannot read the files: ${error.message}`;
    throw error;
  }
}

/**
 * Turns the verdict of an agent into the outcome of its task, after all programs of the task have ended: a submission is
 * committed and pushed first.
 */
export async function acceptVerdict(submission: Submission, { outcome, result }: AgentVerdict): Promise<Verdict> {
  const { task, tree } = submission;
  if (outcome === 'submitted') return submit(submission, result as Pull);
  if (outcome === 'approved') return checkedOutcome(task, outcome, { ...result, headSha: tree.start.parents[0] });
  return checkedOutcome(task, outcome, result);
}

async function problemOfFiles({ task, tree, secrets }: Submission, files: StoredFiles): Promise<string | null> {
  const { unresolved, isUnchanged } = files;
  if (unresolved.length > 0) return `these files still contain conflicts: ${unresolved.join(', ')}.`;
  if (!isUnchanged) return problemOfSecrets(await tree.filesWith(secrets, files));
  const { head } = tree.start;
  // The branch may contain the work already: an earlier attempt ended between its push and its report.
  const isDone = head !== null && needsNoChange(task.payload) && (await tree.changedSince(head)).length > 0;
  return isDone ? null : 'no file in the work tree has changed, so there is nothing to submit.';
}

const problemOfSecrets = (paths: readonly string[]): string | null =>
  paths.length === 0
    ? null
    : `these files contain a key or a token of this worker, which must not be published: ${paths.join(', ')}. Remove it.`;

async function submit(submission: Submission, { title, body }: Pull): Promise<Verdict> {
  const { task, mirror, tree, access } = submission;
  const { branch, head } = tree.start;
  const files = await tree.stored();
  const problem = await problemOfFiles(submission, files);
  if (problem !== null) return failure(`the files changed after the verdict of the agent: ${problem}`);
  const refs = task.issueNumber === null || body.includes(`#${task.issueNumber}`) ? '' : `Refs #${task.issueNumber}`;
  const text = [body.trim(), refs].filter((part) => part !== '').join('\n\n');
  const pull = { title: withoutClosingWords(title), body: withoutClosingWords(text) };
  const { commit: headSha, changedFiles } = await committed(submission, files, pull);
  if (!files.isUnchanged) await mirror.push(headSha, branch, head, await access());
  return checkedOutcome(task, 'submitted', { branch, headSha, ...pull, changedFiles });
}

/** Returns the commit with the files: a new one, or the one of the branch that has them. */
async function committed({ tree }: Submission, files: StoredFiles, { title, body }: Pull) {
  const { head } = tree.start;
  if (files.isUnchanged && head !== null) return { commit: head, changedFiles: await tree.changedSince(head) };
  return tree.commit(files, `${title}\n\n${body}\n`);
}

/** Without comments, or when all of them are about checks of this head that were run again and succeeded. */
const needsNoChange = ({ reviewComments, checks = [], pr }: ClaimedTask['payload']): boolean =>
  reviewComments.every(({ author, body }) => {
    const check = checks.find(({ name }) => author === CHECKS_AUTHOR && body.startsWith(`The check ${name} failed (`));
    return pr !== null && check?.state === 'success';
  });
