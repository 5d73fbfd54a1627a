import type { ClaimedTask } from '@pipeline/contract';
import { checkedOutcome, type Verdict } from '@pipeline/worker';
import type { HostAccess, Mirror } from '../git/mirror.ts';
import type { WorkTree } from '../git/work-tree.ts';
import type { AgentVerdict } from '../prompts/verdict.ts';

export interface Submission {
  task: ClaimedTask;
  mirror: Mirror;
  tree: WorkTree;
  /** Requests credentials, which fails when the claim is lost: nothing is pushed without a claim. */
  access(): Promise<HostAccess>;
}

/** Author of the comments that the pipeline makes of failed checks. */
const CHECKS_AUTHOR = 'checks';

type Accepted = Verdict | { problem: string };

/** Turns the verdict of an agent into the outcome of its task: a submission is committed and pushed first. */
export async function acceptVerdict(submission: Submission, { outcome, result }: AgentVerdict): Promise<Accepted> {
  const { task, tree } = submission;
  if (outcome === 'submitted') return submit(submission, result as { title: string; body: string });
  if (outcome === 'approved') return checkedOutcome(task, outcome, { ...result, headSha: tree.start.parents[0] });
  return checkedOutcome(task, outcome, result);
}

async function submit(submission: Submission, { title, body }: { title: string; body: string }): Promise<Accepted> {
  const { task, mirror, tree, access } = submission;
  const { branch, head } = tree.start;
  const unresolved = await tree.unresolved();
  if (unresolved.length > 0) return { problem: `these files still contain conflicts: ${unresolved.join(', ')}.` };
  const refs = task.issueNumber === null || body.includes(`#${task.issueNumber}`) ? '' : `Refs #${task.issueNumber}`;
  const text = [body.trim(), refs].filter((part) => part !== '').join('\n\n');
  const made = await tree.commit(`${title}\n\n${text}\n`);
  if (made === null) return unchanged(submission, { title, body: text });
  await mirror.push(made.commit, branch, head, await access());
  const { commit: headSha, changedFiles } = made;
  return checkedOutcome(task, 'submitted', { branch, headSha, title, body: text, changedFiles });
}

/** Without comments, or when all of them are about checks of this head that were run again and succeeded. */
const needsNoChange = ({ reviewComments, checks = [], pr }: ClaimedTask['payload']): boolean =>
  reviewComments.every(({ author, body }) => {
    const check = checks.find(({ name }) => author === CHECKS_AUTHOR && body.startsWith(`The check ${name} failed (`));
    return pr !== null && check?.state === 'success';
  });

/** The branch may contain the work already: an earlier attempt ended between its push and its report. */
async function unchanged({ task, tree }: Submission, pull: { title: string; body: string }): Promise<Accepted> {
  const { branch, head: headSha } = tree.start;
  const changedFiles = headSha === null ? [] : await tree.changedSince(headSha);
  if (headSha === null || changedFiles.length === 0 || !needsNoChange(task.payload))
    return { problem: 'no file in the work tree has changed, so there is nothing to submit.' };
  return checkedOutcome(task, 'submitted', { branch, headSha, ...pull, changedFiles });
}
