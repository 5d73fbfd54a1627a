import {
  type Approval,
  type Cause,
  type Decision,
  decide,
  type IssueFacts,
  type Refusal,
  type State,
} from '@pipeline/domain';
import type { PullRequestRow } from '@pipeline/store';
import type { IssueContext } from '../context/issue-context.ts';

/**
 * Decides what a cause does to a locked issue, by the rules of its workflow. Pure: reads and writes nothing.
 * @returns the decision, or the refusal with its reason when the workflow has no edge for the cause.
 */
export function decideFor(subject: IssueContext, cause: Cause): Decision | Refusal {
  return decide(subject.workflow, issueFactsOf(subject), cause);
}

/** The parts of a locked issue's context that decisions depend on. */
export function issueFactsOf(subject: IssueContext): IssueFacts {
  const { issue, pr } = subject;
  return {
    number: issue.issue_number,
    state: issue.state as State,
    blockedFromState: issue.blocked_from_state as State | null,
    blockReason: issue.block_reason,
    pr: pr ? { number: pr.number, headSha: pr.head_sha, headRef: pr.head_ref, approval: approvalOf(pr) } : null,
    dismissStale: subject.dismissStale,
    openBlockers: subject.openBlockers,
    planStatus: issue.plan_status,
    defaultBranch: subject.repo.default_branch,
  };
}

function approvalOf({ approved_sha: sha, approved_source: source }: PullRequestRow): Approval | null {
  return sha === null ? null : { sha, source: source === 'person' ? 'person' : 'agent' };
}
