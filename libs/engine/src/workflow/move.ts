import {
  type Approval,
  autoUnblockDelayMs,
  type Cause,
  type Decision,
  type ErrorClass,
  fingerprint,
  isAccepting,
  isHeldBack,
  isReviewable,
  type Refusal,
  type State,
  stateBit,
} from '@pipeline/domain';
import {
  actedNow,
  enterState,
  hastenTrain,
  type IssueRow,
  insertDeadLetter,
  type OutdatedAction,
  type PullRequestRow,
  resolveEdgesAtEnd,
  setApproval,
  setStop,
  settleSiIssue,
  withdrawProjections,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { type Actor, type CurrentWork, ENGINE, type IssueContext } from '../context/issue-context.ts';
import { settleFindings } from '../knowledge/finding-status.ts';
import { closingActions, projectIssue, queueProjections } from '../outbox/project.ts';
import { recordPipelineEvent, recordTransition } from '../records/records.ts';
import { enqueueRetrospect } from '../tasks/side-tasks.ts';
import { lockCurrentWork, replaceWorkTask } from '../tasks/work-tasks.ts';
import { decideFor } from './decision.ts';
import { settlePlan } from './settle-plan.ts';

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
export async function moveBy(unit: TransactionContext, subject: IssueContext, move: Move): Promise<Moved> {
  const decision = decideFor(subject, move.cause);
  if (decision.kind === 'refused') return { subject, deadLetterId: await insertRefusal(unit, subject, move, decision) };
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

/** Data that a stop stores on the issue beside its state. */
interface StopDetails {
  blockClassification?: ErrorClass | null;
  question?: string | null;
  lastError?: string | null;
  /** Milliseconds until a quota block is lifted for a retry. */
  quotaMs?: number;
}

interface TransitionMetadata {
  actor: Actor;
  stop?: StopDetails;
  /** The issue leaves the state immediately: its task is not created and the host is not shown the state. */
  passing?: true;
  /** The task of the issue, where the caller knows it; read under lock if it is not given. */
  work?: CurrentWork;
  /** For an approval on the host: the id of its review. */
  reviewId?: number;
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
  const moved = decision.kind === 'move' ? move(unit, subject, decision, by) : updateStop(unit, subject, decision, by);
  // An approval that outlives a push waits for the merge of the new head; the merge of the old one is discarded.
  if (decision.kind === 'move' || decision.trigger === 'head-moved') withdraw(unit, subject, decision);
  if (isReviewable(decision.from)) hasten(unit, subject);
  if (decision.approval && subject.pr) recordApproval(unit, subject.pr, decision.approval, by);
  const task = work && (await replaceWorkTask(unit, moved, decision.nextTask, work));
  if (decision.kind === 'move' && decision.to === 'done') await end(unit, moved, decision, subject.issue.is_paused);
  const actions = [...decision.projections, ...closingActions(moved, decision)];
  if (work === null) queueProjections(unit, moved, actions);
  else await projectIssue(unit, moved, actions, task);
  return moved;
}

/** What follows from the end of an issue. Its work task was deleted before, so that its retrospect can be inserted. */
async function end(
  unit: TransactionContext,
  done: IssueContext,
  { trigger }: Decision,
  wasPaused: boolean,
): Promise<void> {
  const { issue } = done;
  unit.send(actedNow(unit.tx, issue));
  const by = isAccepting(trigger) ? 'merged' : 'cancelled';
  unit.send(resolveEdgesAtEnd(unit.tx, unit.tenantId, { repoId: issue.repo_id, number: issue.issue_number }, by));
  // Issues that waited for it, and tracks whose place it occupied, go on.
  unit.notify('svc_cache');
  await settleFindings(unit, done);
  await enqueueRetrospect(unit, done, { merged: trigger === 'merged' || trigger === 'host-merged', wasPaused });
}

/** The pull request may have left its place in the merge train of its repo: the next one goes on at once. */
function hasten(unit: TransactionContext, { issue, repo }: IssueContext): void {
  if (repo.merge_train !== 'serial') return;
  unit.send(hastenTrain(unit.tx, { tenantId: unit.tenantId, repoId: issue.repo_id }));
  unit.notify('svc_projections');
}

/** Records the approved commit and its approver: the merge names it. */
function recordApproval(
  unit: TransactionContext,
  pr: PullRequestRow,
  { sha, source }: Approval,
  { actor, reviewId }: TransitionMetadata,
): void {
  const by = (source === 'agent' ? actor.agent : actor.id) ?? actor.type;
  unit.send(setApproval(unit.tx, unit.tenantId, pr.id, { sha, source, by, reviewId: reviewId ?? null }));
}

/**
 * Discards host writes that only the left state wanted: a merge of an issue that was sent back or cancelled, subtasks
 * of an issue that is no longer split, the close of a reopened one. A pull request that was never opened is replaced by
 * that of a newer submission: a refused one would hold up its lane.
 */
function withdraw(unit: TransactionContext, { issue }: IssueContext, decision: Decision): void {
  const { from, to, trigger } = decision;
  const unwanted: OutdatedAction[] = [];
  if (from === 'merge-pending' && trigger !== 'merged') unwanted.push('mergePR');
  if (from === 'waiting-for-subtasks') unwanted.push('createIssue');
  const isOpenedAgain = decision.projections.some(({ type }) => type === 'createPR');
  if (isOpenedAgain || (from === 'in-review' && to === 'done')) unwanted.push('createPR');
  if (from === 'done' && trigger === 'reopened') unwanted.push('closeIssue');
  // If it was closed on the host before the reopening was written there, it would otherwise stay open.
  if (to === 'done') unwanted.push('reopenIssue');
  if (unwanted.length > 0) unit.send(withdrawProjections(unit.tx, issue, unwanted));
}

function move(
  unit: TransactionContext,
  subject: IssueContext,
  decision: Decision,
  { actor, stop = {} }: TransitionMetadata,
): IssueContext {
  const { issue } = subject;
  const forced = decision.trigger === 'operator';
  recordTransition(unit, subject, { to: decision.to, trigger: decision.trigger, forced }, actor);
  const change = {
    state: decision.to,
    is_blocked: decision.isBlocked,
    block_reason: decision.blockReason,
    block_classification: decision.isBlocked ? (stop.blockClassification ?? null) : null,
    blocked_from_state: decision.blockedFromState,
    question: decision.to === 'needs-clarification' ? (stop.question ?? issue.question) : null,
    ...lastErrorOf(issue, stop),
    is_paused: issue.is_paused && decision.to !== 'done',
    reached_states: issue.reached_states | stateBit(decision.to),
    quota_waited_ms: isStillWaiting(decision, actor) ? issue.quota_waited_ms : 0,
  };
  const liftMs = stop.quotaMs ?? autoUnblockIn(unit, issue, change);
  unit.send(enterState(unit.tx, issue, change, liftMs));
  const planStatus = settlePlan(unit, issue, decision, actor) ?? issue.plan_status;
  const moved = {
    ...subject,
    issue: { ...issue, ...change, ...enteredAt(issue.now, liftMs), plan_status: planStatus },
  };
  if (decision.isBlocked !== issue.is_blocked) recordBlock(unit, moved, issue.block_reason, actor);
  if (decision.to === 'done' || issue.state === 'done') {
    const place = { repoId: issue.repo_id, number: issue.issue_number };
    unit.send(settleSiIssue(unit.tx, unit.tenantId, place, decision.to === 'done'));
  }
  return moved;
}

/** The times that `enterState` writes, in ISO 8601. */
const enteredAt = (now: string, liftMs: number | null) => ({
  state_entered_at: now,
  auto_unblock_at: liftMs === null ? null : new Date(Date.parse(now) + liftMs).toISOString(),
});

/** The displayed error, and its fingerprint. */
function lastErrorOf(issue: IssueRow, { lastError }: StopDetails) {
  if (lastError === undefined) return { last_error: issue.last_error, error_fingerprint: issue.error_fingerprint };
  return { last_error: lastError, error_fingerprint: lastError === null ? null : fingerprint(lastError) };
}

/**
 * Milliseconds until a transient block is lifted automatically; null for any other, or after the maximum number of
 * lifts.
 */
function autoUnblockIn(
  unit: TransactionContext,
  issue: IssueRow,
  after: { state: string; block_classification: string | null },
): number | null {
  const { autoUnblockTransient, maxAutoUnblocksPerIssue } = unit.settings.selfHealing;
  const transient = after.state === 'failure-blocked' && after.block_classification === 'transient';
  if (!transient || !autoUnblockTransient || issue.auto_unblock_count >= maxAutoUnblocksPerIssue) return null;
  return autoUnblockDelayMs(issue.auto_unblock_count);
}

/** A quota block and its retry: only an outcome, or a person, resets the waiting time. */
const isStillWaiting = ({ trigger }: Decision, actor: Actor): boolean =>
  trigger === 'exhausted' || (trigger === 'unblocked' && actor.type !== 'operator');

/** Blocks that are lifted automatically. */
const LIFTED: readonly (string | null)[] = ['transient', 'quota'];

/**
 * Another failure in a stop: the state stays, the newest reason replaces the old one and may cancel the automatic lift.
 */
function updateStop(
  unit: TransactionContext,
  subject: IssueContext,
  decision: Decision,
  { stop }: TransitionMetadata,
): IssueContext {
  if (!stop) return subject;
  const { issue } = subject;
  const change = {
    block_reason: decision.blockReason,
    block_classification: stop.blockClassification ?? issue.block_classification,
    ...lastErrorOf(issue, { lastError: stop.lastError ?? issue.last_error }),
  };
  const keepsLift = LIFTED.includes(change.block_classification);
  unit.send(setStop(unit.tx, issue, change, keepsLift));
  return { ...subject, issue: { ...issue, ...change, ...(!keepsLift && { auto_unblock_at: null }) } };
}

function recordBlock(unit: TransactionContext, moved: IssueContext, reasonBefore: string | null, actor: Actor): void {
  const { issue } = moved;
  unit.notify('svc_cache');
  recordPipelineEvent(unit, moved, {
    eventType: issue.is_blocked ? 'issue_blocked' : 'issue_unblocked',
    agent: actor.agent ?? actor.type,
    payload: {
      blockReason: issue.is_blocked ? issue.block_reason : reasonBefore,
      classification: issue.block_classification,
      automatic: actor.type !== 'operator',
    },
  });
}

/** The transition that asks a person. */
export const askPerson = (question: string): Move => ({
  cause: { trigger: 'needs-clarification' },
  actor: ENGINE,
  stop: { question },
});
