import {
  type ChecksWait,
  type Decision,
  formatIssueRef,
  isAccepting,
  isUsedUp,
  labelSwap,
  outputLabels,
  type ProjectionAction,
  type State,
  statusComment,
} from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { activeDependencies, insertProjections, lockWorkTask, subtasksOf } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { IssueContext, WorkTask } from '../context/issue-context.ts';

/** The single status comment per issue; found again on the host by this marker. */
const STATUS_MARKER = 'status';

/**
 * Appends all outdated host state of an issue to the outbox: first the writes of the outcome, then the labels that
 * follow from state and flags, then the status comment. Nothing is written that the host already shows.
 * @param task the work task of the issue; read if it is not given.
 */
export async function projectIssue(
  unit: TransactionContext,
  subject: IssueContext,
  outcome: readonly ProjectionAction[] = [],
  task?: WorkTask | null,
): Promise<void> {
  const { issue } = subject;
  const wanted = outputLabels({ state: issue.state as State, isBlocked: issue.is_blocked, isPaused: issue.is_paused });
  const swap = labelSwap(issue.labels, wanted);
  const comment = await changedComment(unit, subject, task);
  const actions = [...outcome];
  if (swap) actions.push({ type: 'swapLabels', ...swap });
  if (comment) actions.push(comment);
  await queueProjections(unit, subject, actions);
  if (!swap && !comment) return;
  const kept = swap ? issue.labels.filter((label) => !swap.remove.includes(label)) : issue.labels;
  const labels = [...kept, ...(swap?.add ?? [])];
  unit.rows.setIssue(issue.id, { labels, status_comment_body: comment?.body ?? issue.status_comment_body });
}

/** Appends entries to the outbox of an issue, in order. A pending status comment is rewritten instead. */
export async function queueProjections(
  unit: TransactionContext,
  subject: IssueContext,
  actions: readonly ProjectionAction[],
): Promise<void> {
  if (actions.length === 0) return;
  const { issue, repo } = subject;
  const items = actions.map((action) => {
    const idempotencyKey = timeOrderedId();
    return {
      repoId: issue.repo_id,
      issueId: issue.id,
      issueNumber: issue.issue_number,
      clientType: repo.vcs_host,
      action: ofOneEntry(action, idempotencyKey),
      idempotencyKey,
    };
  });
  await insertProjections(unit.tx, unit.tenantId, items);
  unit.notify('svc_projections');
}

/**
 * An attempt in doubt looks for its issue on the host by the marker. A second split of an issue creates other subtasks
 * than the first one, so each entry has a marker of its own, the same for all of its attempts.
 */
const ofOneEntry = (action: ProjectionAction, key: string): ProjectionAction =>
  action.type === 'createIssue' ? { ...action, marker: `${action.marker}-${key}` } : action;

/** The current status comment; null when the host shows it, or will. */
async function changedComment(
  unit: TransactionContext,
  subject: IssueContext,
  task: WorkTask | null | undefined,
): Promise<Extract<ProjectionAction, { type: 'updateComment' }> | null> {
  const known = task === undefined ? await lockWorkTask(unit.tx, unit.tenantId, subject.issue.id) : task;
  const body = await statusCommentOf(unit, subject, known ?? null);
  return body === subject.issue.status_comment_body ? null : { type: 'updateComment', marker: STATUS_MARKER, body };
}

/** The close or reopening on the host, if a transition into or out of `done` did not start there. */
export function closingActions({ ending }: IssueContext, decision: Decision): ProjectionAction[] {
  if (decision.kind !== 'move') return [];
  if (decision.from === 'done' && decision.trigger === 'operator') return [{ type: 'reopenIssue' }];
  if (decision.to !== 'done' || decision.trigger === 'host-closed') return [];
  const isCompleted = ending.isMerged || isAccepting(decision.trigger);
  return [{ type: 'closeIssue', reason: isCompleted ? 'completed' : 'not_planned', comment: null }];
}

/** The text of the status comment. Equal facts give equal text. */
async function statusCommentOf(
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
    pendingPlan: issue.plan_status === 'pending' ? { version: issue.plan_version, text: issue.plan ?? '' } : null,
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
    textChange: issue.text_changed_at === null ? null : { by: issue.text_changed_by },
    checks: waitOf(pr),
    autoUnblock: {
      count: issue.auto_unblock_count,
      max: settings.selfHealing.maxAutoUnblocksPerIssue,
      nextAt: issue.auto_unblock_at,
    },
  });
}

/** A wait for an earlier head is over. The order of waiting merges changes often and are not shown on the host. */
function waitOf(pr: IssueContext['pr']): ChecksWait | null {
  const wait = (pr?.checks_wait ?? null) as ChecksWait | null;
  return wait?.sha === pr?.head_sha && wait?.verdict !== 'train' ? wait : null;
}
