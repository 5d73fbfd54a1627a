import { REVIEW_CONTEXT } from '../checks/checks.ts';
import type { ProjectionAction } from '../outbox/projections.ts';
import type { State } from '../states.ts';
import { branchOf } from '../task-types.ts';
import { referringBody, withoutClosingWords } from '../text/referring-body.ts';
import type { Approval, Cause, IssueFacts } from './facts.ts';
import type { Outcome } from './outcomes.ts';

/**
 * Host writes that an outcome asks for.
 * @param approved the one commit that may be merged; null = none.
 */
export function askedOfHost(
  issue: IssueFacts,
  { outcome, headSha }: Cause,
  approved: string | null,
): ProjectionAction[] {
  switch (outcome?.outcome) {
    case 'submitted':
      return hasOwnPullRequest(issue) ? [] : [openPullRequest(issue, outcome.result)];
    case 'approved':
      return reviewOf(issue, { state: 'success', headSha, body: outcome.result.body || 'Approved.', comments: [] });
    case 'changes-requested': {
      const { body, comments } = outcome.result;
      return reviewOf(issue, { state: 'failure', headSha, body: `Changes requested: ${body}`, comments });
    }
    case 'mergeable':
      return mergePullRequest(issue, approved);
    case 'split':
      return outcome.result.subtasks.map((subtask, index) => ({
        type: 'createIssue',
        title: subtask.title,
        body: `${subtask.body}\n\nPart of #${issue.number}.`,
        labels: subtask.labels,
        marker: `subtask-${issue.number}-${index}`,
      }));
    default:
      return [];
  }
}

/**
 * Lists the host writes of a start over: the pull request and its branch are removed first; the new task waits until
 * the branch is gone.
 */
export function undone(issue: IssueFacts, cause: Cause): ProjectionAction[] {
  if (cause.trigger !== 'reimplement' || !issue.pr) return [];
  return [
    { type: 'closePR', prNumber: issue.pr.number, comment: 'The work starts over.' },
    { type: 'deleteBranch', branch: branchOf(issue.number) },
  ];
}

/** Returns whether the linked pull request is from the branch of the issue. One of another branch was opened by hand. */
export const hasOwnPullRequest = ({ pr, number }: IssueFacts): boolean => pr?.headRef === branchOf(number);

type Submission = Extract<Outcome, { outcome: 'submitted' }>['result'];

function openPullRequest(issue: IssueFacts, result: Submission): ProjectionAction {
  return {
    type: 'createPR',
    head: branchOf(issue.number),
    base: issue.defaultBranch,
    title: withoutClosingWords(result.title),
    body: referringBody(result.body, issue.number),
    draft: false,
    marker: `pr-${issue.number}-${result.headSha}`,
  };
}

/** Names the approved commit, so that the host refuses any other. */
function mergePullRequest({ pr }: IssueFacts, approved: string | null): ProjectionAction[] {
  if (!pr || approved === null) return [];
  return [{ type: 'mergePR', prNumber: pr.number, method: 'squash', expectedHeadSha: approved }];
}

interface Verdict {
  state: 'success' | 'failure';
  /** The reviewed commit; undefined for a verdict of an older release, which did not record it. */
  headSha: string | null | undefined;
  body: string;
  comments: Extract<Outcome, { outcome: 'changes-requested' }>['result']['comments'];
}

/** The identity that opened a pull request may not approve it, so a verdict is a comment and a commit status. */
function reviewOf({ pr }: IssueFacts, { state, headSha, body, comments }: Verdict): ProjectionAction[] {
  if (!pr) return [];
  const review: ProjectionAction = { type: 'submitReview', prNumber: pr.number, event: 'comment', body, comments };
  if (!headSha) return [review];
  const description = state === 'success' ? 'Approved by the reviewer' : 'The reviewer asks for changes';
  return [review, statusOf({ ...pr, headSha }, state, description)];
}

const statusOf = (
  { number, headSha }: { number: number; headSha: string },
  state: Verdict['state'],
  description: string,
): ProjectionAction => ({
  type: 'setCommitStatus',
  sha: headSha,
  prNumber: number,
  context: REVIEW_CONTEXT,
  state,
  description,
  targetUrl: null,
});

/**
 * The status of a head on which a person decides: branches may require it of the pipeline, so that no other account can
 * merge a head that was not approved.
 */
export function reviewStatus(
  { pr, state }: IssueFacts,
  { trigger }: Cause,
  { approval, target }: { approval: Approval | null; target: State },
): ProjectionAction[] {
  if (!pr) return [];
  if (approval?.source === 'person')
    return [statusOf({ ...pr, headSha: approval.sha }, 'success', 'Approved by a person')];
  const isKept = trigger === 'head-moved' && target === 'merge-pending';
  if (isKept) return [statusOf(pr, 'success', 'The approval of a person applies to later pushes')];
  if (trigger === 'review-dismissed') return [statusOf(pr, 'failure', 'The approval was revoked')];
  const isWithdrawn = trigger === 'review-changes-requested' && state === 'merge-pending';
  return isWithdrawn ? [statusOf(pr, 'failure', 'A person asks for changes')] : [];
}
