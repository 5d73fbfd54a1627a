import type { Approval, Cause, Decision, Refusal, State, WorkflowSnapshot } from '@pipeline/domain';
import { DEFAULT_WORKFLOW, decide } from '@pipeline/domain';
import { contextOfIssue, type IssueRow, type PullRequestRow, type RepoRow } from '@pipeline/store';
import type { Unit } from './context.ts';

/** A locked issue with all data that a decision about it depends on. */
export interface Subject {
  issue: IssueRow;
  repo: RepoRow;
  workflow: WorkflowSnapshot;
  /** The pipeline's own open pull request; never another person's. */
  pr: PullRequestRow | undefined;
  openBlockers: number;
  openDependencies: number;
  /** Setting `review.dismissStale` when the context was read. */
  dismissStale: boolean;
}

/** The cause of a change, as recorded in events and transitions. */
export interface Actor {
  type: 'agent' | 'workflow-engine' | 'operator' | 'system';
  id: string | null;
  /** Agent of the outcome; null for people and loops. */
  agent: string | null;
  reason?: string | null;
  /** Links the changes of one bulk call. */
  bulkId?: string;
}

export const ENGINE: Actor = { type: 'workflow-engine', id: null, agent: null };

/**
 * Reads the rest of the context of an issue whose row the caller has locked: one statement. The caller is about to
 * change the issue, so its list row is marked to be rewritten.
 */
export async function subjectOf(unit: Unit, issue: IssueRow): Promise<Subject> {
  unit.relisted.changed.add(issue.id);
  const { workflow, ...context } = await contextOfIssue(unit.tx, issue);
  return { issue, ...context, workflow: workflow ?? DEFAULT_WORKFLOW, dismissStale: unit.settings.review.dismissStale };
}

function approvalOf({ approved_sha: sha, approved_source: source }: PullRequestRow): Approval | null {
  return sha === null ? null : { sha, source: source === 'person' ? 'person' : 'agent' };
}

export function decideFor(subject: Subject, cause: Cause): Decision | Refusal {
  const { issue, pr } = subject;
  return decide(
    subject.workflow,
    {
      number: issue.issue_number,
      state: issue.state as State,
      blockedFromState: issue.blocked_from_state as State | null,
      blockReason: issue.block_reason,
      pr: pr ? { number: pr.number, headSha: pr.head_sha, headRef: pr.head_ref, approval: approvalOf(pr) } : null,
      dismissStale: subject.dismissStale,
      openBlockers: subject.openBlockers,
      defaultBranch: subject.repo.default_branch,
    },
    cause,
  );
}
