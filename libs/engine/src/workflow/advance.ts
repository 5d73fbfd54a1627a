import {
  type Approval,
  autoUnblockDelayMs,
  type Decision,
  type ErrorClass,
  fingerprint,
  type ProjectionAction,
  stateBit,
} from '@pipeline/domain';
import {
  actedNow,
  enterState,
  type IssueRow,
  type PullRequestRow,
  resolveEdgesAtEnd,
  setApproval,
  settleSiIssue,
  updateIssue,
  withdrawProjections,
} from '@pipeline/store';
import type { Unit } from '../context/context.ts';
import type { Actor, Subject } from '../context/issue-context.ts';
import { settleFindings } from '../knowledge/keep-findings.ts';
import { lookBack } from '../knowledge/retrospects.ts';
import { closingActions, projectIssue, queueProjections } from '../outbox/project.ts';
import { recordPipelineEvent, recordTransition } from '../records/records.ts';
import { replaceWorkTask, standingWork } from '../tasks/work-tasks.ts';

/** Facts that a stop leaves on the issue beside its state. */
export interface Stop {
  blockClassification?: ErrorClass | null;
  question?: string | null;
  lastError?: string | null;
  /** Milliseconds until a block by a quota is lifted to see whether the quota has returned. */
  quotaMs?: number;
}

export interface Carrier {
  actor: Actor;
  stop?: Stop;
  /** The state is left again at once: its work does not begin and the host is not shown it. */
  passing?: true;
  /** Of an approval that was given on the host: the id of its review. */
  reviewId?: number;
}

/**
 * Carries out a decision, inside the caller's transaction: issue row, transition, events, next task, projections.
 * The issue's row is locked, so nobody else moves it meanwhile. Nothing else in the product writes an issue's state.
 * @returns the subject as it is now.
 */
export async function advance(unit: Unit, subject: Subject, decision: Decision, by: Carrier): Promise<Subject> {
  const [moved, work] = await Promise.all([
    decision.kind === 'move' ? move(unit, subject, decision, by) : stay(unit, subject, decision, by),
    by.passing ? null : standingWork(unit, subject.issue.id),
  ]);
  // An approval that outlives a push waits for the merge of the new head; the merge of the old one goes.
  if (decision.kind === 'move' || decision.trigger === 'head-moved') withdraw(unit, subject, decision);
  if (decision.approval && subject.pr) recordApproval(unit, subject.pr, decision.approval, by);
  const closing = await closingActions(unit, moved, decision);
  const asked = [...decision.projections, ...closing];
  if (work === null) {
    queueProjections(unit, moved, asked);
    return moved;
  }
  const task = await replaceWorkTask(unit, moved, decision.nextTask, work);
  await projectIssue(unit, moved, asked, task);
  return moved;
}

/** Which commit was approved, by whom: the merge names it. */
function recordApproval(unit: Unit, pr: PullRequestRow, { sha, source }: Approval, { actor, reviewId }: Carrier): void {
  const by = (source === 'agent' ? actor.agent : actor.id) ?? actor.type;
  unit.send(setApproval(unit.tx, unit.tenantId, pr.id, { sha, source, by, reviewId: reviewId ?? null }));
}

/**
 * What only the state wanted that is left now: a merge of work that was sent back or cancelled must not happen after
 * all, nor parts of an issue that is not split any more, nor the close of one that came back.
 */
function withdraw(unit: Unit, { issue }: Subject, { from, to, trigger }: Decision): void {
  const unwanted: ProjectionAction['type'][] = [];
  if (from === 'merge-pending' && trigger !== 'merged') unwanted.push('mergePR');
  if (from === 'waiting-for-subtasks') unwanted.push('createIssue');
  if (from === 'in-review' && to === 'done') unwanted.push('createPR');
  if (from === 'done' && trigger === 'reopened') unwanted.push('closeIssue');
  // Closed on the host before the reopening was written there: it would be open for good.
  if (to === 'done') unwanted.push('reopenIssue');
  if (unwanted.length > 0) unit.send(withdrawProjections(unit.tx, issue, unwanted));
}

async function move(unit: Unit, subject: Subject, decision: Decision, { actor, stop = {} }: Carrier): Promise<Subject> {
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
  const entered = await enterState(unit.tx, issue, change, liftMs);
  const moved = { ...subject, issue: { ...issue, ...change, ...entered } };
  if (decision.isBlocked !== issue.is_blocked) recordBlock(unit, moved, issue.block_reason, actor);
  if (decision.to === 'done' || issue.state === 'done') {
    const place = { repoId: issue.repo_id, number: issue.issue_number };
    await settleSiIssue(unit.tx, unit.tenantId, place, decision.to === 'done');
  }
  if (decision.to === 'done') {
    unit.send(actedNow(unit.tx, issue));
    const by = MERGED.includes(decision.trigger) ? 'merged' : 'cancelled';
    await resolveEdgesAtEnd(unit.tx, unit.tenantId, { repoId: issue.repo_id, number: issue.issue_number }, by);
    const merged = decision.trigger === 'merged' || decision.trigger === 'host-merged';
    await settleFindings(unit, moved);
    await lookBack(unit, moved, { merged, wasPaused: issue.is_paused });
  }
  return moved;
}

/** The error that people see, and its name across issues. */
function lastErrorOf(issue: IssueRow, { lastError }: Stop) {
  if (lastError === undefined) return { last_error: issue.last_error, error_fingerprint: issue.error_fingerprint };
  return { last_error: lastError, error_fingerprint: lastError === null ? null : fingerprint(lastError) };
}

/** Milliseconds until a transient block is lifted by itself; null for any other, and when that was done often enough. */
function autoUnblockIn(
  unit: Unit,
  issue: IssueRow,
  after: { state: string; block_classification: string | null },
): number | null {
  const { autoUnblockTransient, maxAutoUnblocksPerIssue } = unit.settings.selfHealing;
  const transient = after.state === 'failure-blocked' && after.block_classification === 'transient';
  if (!transient || !autoUnblockTransient || issue.auto_unblock_count >= maxAutoUnblocksPerIssue) return null;
  return autoUnblockDelayMs(issue.auto_unblock_count);
}

/** The block by a quota, and the look whether it has returned: only an outcome, or a person, ends the wait. */
const isStillWaiting = ({ trigger }: Decision, actor: Actor): boolean =>
  trigger === 'exhausted' || (trigger === 'unblocked' && actor.type !== 'operator');

/** Ways to the end on which the work was taken over. */
const MERGED: readonly string[] = ['merged', 'host-merged', 'subtasks-done'];

/** Blocks that end by themselves. */
const LIFTED: readonly (string | null)[] = ['transient', 'quota'];

/** Failed again where it stands: the state holds, its reason is the newest one, and may end what would have lifted it. */
async function stay(unit: Unit, subject: Subject, decision: Decision, { stop }: Carrier): Promise<Subject> {
  if (!stop) return subject;
  const { issue } = subject;
  const change = {
    block_reason: decision.blockReason,
    block_classification: stop.blockClassification ?? issue.block_classification,
    ...lastErrorOf(issue, { lastError: stop.lastError ?? issue.last_error }),
  };
  const lifted = LIFTED.includes(change.block_classification) ? {} : { auto_unblock_at: null };
  unit.send(updateIssue(unit.tx, unit.tenantId, issue.id, { ...change, ...lifted }));
  return { ...subject, issue: { ...issue, ...change, ...lifted } };
}

function recordBlock(unit: Unit, moved: Subject, reasonBefore: string | null, actor: Actor): void {
  const { issue } = moved;
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
