import { type Decision, labelSwap, outputLabels, type ProjectionAction, type State } from '@pipeline/domain';
import { insertProjections, lockWorkTask, pullRequestsOf, showIssue } from '@pipeline/store';
import { v7 as uuidv7 } from 'uuid';
import type { Unit } from '../context/context.ts';
import type { Subject, WorkTask } from '../context/issue-context.ts';
import { statusCommentOf } from './status-comment.ts';

/** The one comment per issue that says where it is; found again on the host by this marker. */
const STATUS_MARKER = 'status';

/**
 * Puts everything the host should now show of an issue into the outbox: first what an outcome asked for, then the
 * labels that follow from state and flags, then the status comment. Nothing is written that is there already.
 * @param task the work task of the issue; read if it is not given.
 */
export async function projectIssue(
  unit: Unit,
  subject: Subject,
  asked: readonly ProjectionAction[] = [],
  task?: WorkTask | null,
): Promise<void> {
  const { issue } = subject;
  const wanted = outputLabels({ state: issue.state as State, isBlocked: issue.is_blocked, isPaused: issue.is_paused });
  const swap = labelSwap(issue.labels, wanted);
  const comment = await changedComment(unit, subject, task);
  const actions = [...asked];
  if (swap) actions.push({ type: 'swapLabels', ...swap });
  if (comment) actions.push(comment);
  queueProjections(unit, subject, actions);
  if (!swap && !comment) return;
  const kept = swap ? issue.labels.filter((label) => !swap.remove.includes(label)) : issue.labels;
  const labels = [...kept, ...(swap?.add ?? [])];
  const shown = { labels, statusComment: comment?.body ?? issue.status_comment_body };
  unit.send(showIssue(unit.tx, issue, shown));
}

/** Adds entries to the outbox of an issue, in order. A status comment that still waits there is rewritten instead. */
export function queueProjections(unit: Unit, subject: Subject, actions: readonly ProjectionAction[]): void {
  if (actions.length === 0) return;
  const { issue, repo } = subject;
  const items = actions.map((action) => ({
    repoId: issue.repo_id,
    issueId: issue.id,
    issueNumber: issue.issue_number,
    clientType: repo.vcs_host,
    action,
    idempotencyKey: uuidv7(),
  }));
  unit.send(insertProjections(unit.tx, unit.tenantId, items));
  unit.ring('svc_projections');
}

/** The status comment as it should be; null when the host shows it, or will. */
async function changedComment(
  unit: Unit,
  subject: Subject,
  task: WorkTask | null | undefined,
): Promise<Extract<ProjectionAction, { type: 'updateComment' }> | null> {
  const known = task === undefined ? await lockWorkTask(unit.tx, unit.tenantId, subject.issue.id) : task;
  const body = await statusCommentOf(unit, subject, known ?? null);
  return body === subject.issue.status_comment_body ? null : { type: 'updateComment', marker: STATUS_MARKER, body };
}

/** What closing or reopening the issue on the host takes, where a move into or out of `done` did not start there. */
export async function closingActions(unit: Unit, subject: Subject, decision: Decision): Promise<ProjectionAction[]> {
  if (decision.kind !== 'move') return [];
  if (decision.from === 'done' && decision.trigger === 'operator') return [{ type: 'reopenIssue' }];
  if (decision.to !== 'done' || decision.trigger === 'host-closed') return [];
  const prs = await pullRequestsOf(unit.tx, unit.tenantId, subject.issue.id);
  const merged = prs.some((pr) => pr.merged) || decision.trigger === 'subtasks-done';
  return [{ type: 'closeIssue', reason: merged ? 'completed' : 'not_planned', comment: null }];
}
