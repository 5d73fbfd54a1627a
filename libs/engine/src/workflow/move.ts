import {
  type Approval,
  type Cause,
  type Decision,
  isAccepting,
  isHeldBack,
  isReviewable,
  type Refusal,
  type State,
  type WorkflowSnapshot,
} from '@pipeline/domain';
import {
  actedNow,
  hastenTrain,
  insertDeadLetter,
  isSerial,
  type OutdatedAction,
  type PullRequestRow,
  resolveEdgesAtEnd,
  setApproval,
  withdrawProjections,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { settleFindings } from '../knowledge/finding-status.ts';
import { closingActions, projectIssue, queueProjections } from '../outbox/project.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { enqueueRetrospect } from '../tasks/side-tasks.ts';
import { lockCurrentWork, replaceWorkTask } from '../tasks/work-tasks.ts';
import { changeState, type TransitionMetadata, updateStop } from './change-issue.ts';
import { decideFor } from './decision.ts';
import { countRound } from './rounds.ts';

/** The cause of a transition, its actor, and the data it stores on the issue. */
export interface Move extends TransitionMetadata {
  cause: Cause;
}

interface Moved {
  subject: IssueContext;
  /** Set when the transition was refused and became a dead letter; the issue stayed where it was. */
  deadLetterId?: string;
  decision?: Decision;
}

/**
 * The only way an event moves an issue: decides, then applies the decision, or records a dead letter so that the
 * refused transition is neither lost nor retried blindly.
 */
export async function moveBy(unit: TransactionContext, given: IssueContext, move: Move): Promise<Moved> {
  const decision = decideFor(given, move.cause);
  if (decision.kind === 'refused') {
    return { subject: given, deadLetterId: await insertRefusal(unit, given, move, decision) };
  }
  const { subject, limit } = countRound(unit, given, decision, move);
  if (limit && hasExhausted(subject.workflow, decision.to))
    return moveThrough(unit, subject, { decision, move }, limit);
  if (limit) return moveBy(unit, subject, limit);
  if (isHeldBack(subject.workflow, decision, subject.openDependencies)) {
    return moveThrough(unit, subject, { decision, move }, { cause: { trigger: 'depends' }, actor: ENGINE });
  }
  return { subject: await advance(unit, subject, decision, move), decision };
}

/**
 * A state whose task is not created: the issue enters it, so that the way back leads there, and leaves it immediately
 * by `next`.
 */
export async function moveThrough(
  unit: TransactionContext,
  subject: IssueContext,
  { decision, move }: { decision: Decision; move: Move },
  next: Move,
): Promise<Moved> {
  return moveBy(unit, await advance(unit, subject, decision, { ...move, passing: true }), next);
}

/** Returns whether a person can be asked from this state, so that the way back leads to it. */
const hasExhausted = ({ edges }: WorkflowSnapshot, state: State): boolean =>
  edges.some(({ from, trigger }) => from === state && trigger === 'exhausted');

async function insertRefusal(
  unit: TransactionContext,
  subject: IssueContext,
  { cause, actor }: Move,
  refusal: Refusal,
): Promise<string> {
  const { issue } = subject;
  const id = await insertDeadLetter(unit.tx, unit.tenantId, {
    repoId: issue.repo_id,
    issueId: issue.id,
    issueNumber: issue.issue_number,
    fromState: issue.state as State,
    targetState: refusal.targetState,
    agentName: actor.agent,
    error: refusal.reason,
    cause: { kind: 'decision', cause },
  });
  recordPipelineEvent(unit, subject, {
    eventType: 'dead_letter_created',
    agent: actor.agent ?? actor.type,
    payload: { deadLetterId: id },
  });
  unit.notify('svc_cache');
  return id;
}

/**
 * Applies a decision inside the caller's transaction: issue row, transition, events, next task, host writes. The
 * issue's row is locked, so no other transaction moves it. Nothing else in the product writes an issue's state.
 * @returns the issue context after the change.
 */
export async function advance(
  unit: TransactionContext,
  subject: IssueContext,
  decision: Decision,
  by: TransitionMetadata,
): Promise<IssueContext> {
  const work = by.passing ? null : (by.work ?? (await lockCurrentWork(unit, subject.issue.id)));
  const moved =
    decision.kind === 'move' ? await changeState(unit, subject, decision, by) : updateStop(unit, subject, decision, by);
  // An approval that outlives a push waits for the merge of the new head; the merge of the old one is discarded.
  if (decision.kind === 'move' || decision.trigger === 'head-moved') await withdraw(unit, subject, decision);
  if (isReviewable(decision.from)) await hasten(unit, subject);
  if (decision.approval && subject.pr) await recordApproval(unit, subject.pr, decision.approval, by);
  const task = work && (await replaceWorkTask(unit, moved, decision.nextTask, work));
  if (decision.kind === 'move' && decision.to === 'done') await end(unit, moved, decision, subject.issue.is_paused);
  const actions = [...decision.projections, ...closingActions(moved, decision)];
  if (work === null) await queueProjections(unit, moved, actions);
  else await projectIssue(unit, moved, actions, task);
  return moved;
}

/**
 * Applies what follows from the end of an issue. Its work task was deleted before, so that its retrospect can be
 * inserted.
 */
async function end(
  unit: TransactionContext,
  done: IssueContext,
  { trigger }: Decision,
  wasPaused: boolean,
): Promise<void> {
  const { issue } = done;
  await actedNow(unit.tx, issue);
  const by = isAccepting(trigger) ? 'merged' : 'cancelled';
  await resolveEdgesAtEnd(unit.tx, unit.tenantId, { repoId: issue.repo_id, number: issue.issue_number }, by);
  // Issues that waited for it, and tracks whose place it occupied, go on.
  unit.notify('svc_cache');
  await settleFindings(unit, done);
  await enqueueRetrospect(unit, done, { merged: trigger === 'merged' || trigger === 'host-merged', wasPaused });
}

/** The pull request may have been the one that merges next in its repo: the next one goes on at once. */
async function hasten(unit: TransactionContext, { issue, repo }: IssueContext): Promise<void> {
  if (!isSerial(repo)) return;
  await hastenTrain(unit.tx, { tenantId: unit.tenantId, repoId: issue.repo_id });
  unit.notify('svc_projections');
}

/** Records the approved commit and its approver: the merge names it. */
async function recordApproval(
  unit: TransactionContext,
  pr: PullRequestRow,
  { sha, source }: Approval,
  { actor, reviewId }: TransitionMetadata,
): Promise<void> {
  const by = (source === 'agent' ? actor.agent : actor.id) ?? actor.type;
  await setApproval(unit.tx, unit.tenantId, pr.id, { sha, source, by, reviewId: reviewId ?? null });
}

/**
 * Discards host writes that only the left state wanted: a merge of an issue that was sent back or cancelled, subtasks
 * of an issue that is no longer split, the close of a reopened one. A pull request that was never opened is replaced by
 * that of a newer submission: a refused one would hold up its lane.
 */
async function withdraw(unit: TransactionContext, { issue }: IssueContext, decision: Decision): Promise<void> {
  const { from, to, trigger } = decision;
  const unwanted: OutdatedAction[] = [];
  if (from === 'merge-pending' && trigger !== 'merged') unwanted.push('mergePR');
  if (from === 'waiting-for-subtasks') unwanted.push('createIssue');
  const isOpenedAgain = decision.projections.some(({ type }) => type === 'createPR');
  if (isOpenedAgain || (from === 'in-review' && to === 'done')) unwanted.push('createPR');
  if (from === 'done' && trigger === 'reopened') unwanted.push('closeIssue');
  // If it was closed on the host before the reopening was written there, it would otherwise stay open.
  if (to === 'done') unwanted.push('reopenIssue');
  if (unwanted.length > 0) await withdrawProjections(unit.tx, issue, unwanted);
}

/** The transition that asks a person. */
export const askPerson = (question: string): Move => ({
  cause: { trigger: 'needs-clarification' },
  actor: ENGINE,
  stop: { question },
});
