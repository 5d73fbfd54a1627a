import { formatIssueRef, isUsedUp, type State, statusComment } from '@pipeline/domain';
import { activeDependencies, subtasksOf } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { IssueContext, WorkTask } from '../context/issue-context.ts';

/** The text of the status comment. Equal facts give equal text. */
export async function statusCommentOf(
  unit: TransactionContext,
  { issue, repo, pr }: IssueContext,
  task: WorkTask | null,
): Promise<string> {
  const { tx, tenantId, settings } = unit;
  const self = { repoId: issue.repo_id, number: issue.issue_number };
  const parents = issue.state === 'dependency-blocked' ? await activeDependencies(tx, tenantId, self) : [];
  const subtasks = issue.state === 'waiting-for-subtasks' ? await subtasksOf(tx, tenantId, self) : [];
  return statusComment({
    repo: `${repo.owner}/${repo.name}`,
    issueNumber: issue.issue_number,
    state: issue.state as State,
    stateEnteredAt: issue.state_entered_at,
    isPaused: issue.is_paused,
    isBlocked: issue.is_blocked,
    blockReason: issue.block_reason,
    blockClassification: issue.block_classification,
    blockedFromState: issue.blocked_from_state,
    hold: task?.held ?? null,
    usedUp: isUsedUp(issue.cost_usd, settings.costLimits.perIssueUsd) ? 'issue' : 'day',
    question: issue.question,
    lastError: issue.last_error,
    prNumber: pr?.number ?? null,
    dependsOn: parents.map((parent) =>
      parent.parent_repo_id === issue.repo_id
        ? `#${parent.parent_issue_number}`
        : formatIssueRef(parent, parent.parent_issue_number),
    ),
    subtasks: subtasks.map((edge) => ({ ref: `#${edge.child_issue_number}`, done: !edge.active })),
    attempt: task?.attempt ?? 0,
    maxAttempts: task?.max_attempts ?? settings.maxAttempts,
    textChange: issue.text_changed_at === null ? null : { at: issue.text_changed_at, by: issue.text_changed_by },
    autoUnblock: {
      count: issue.auto_unblock_count,
      max: settings.selfHealing.maxAutoUnblocksPerIssue,
      nextAt: issue.auto_unblock_at,
    },
  });
}
