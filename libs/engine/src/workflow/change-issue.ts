import {
  autoUnblockDelayMs,
  type Decision,
  type ErrorClass,
  fingerprint,
  type PlanStatus,
  planStatusAfter,
  stateBit,
} from '@pipeline/domain';
import { answerPlan, clearPlanRejections, enteringState, type IssueRow, settleSiIssue } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor, CurrentWork, IssueContext } from '../context/issue-context.ts';
import { recordPipelineEvent, recordTransition } from '../records/records.ts';

/** Data that a stop stores on the issue beside its state. */
interface StopDetails {
  blockClassification?: ErrorClass | null;
  question?: string | null;
  lastError?: string | null;
  /** Milliseconds until a quota block is lifted for a retry. */
  quotaMs?: number;
}

export interface TransitionMetadata {
  actor: Actor;
  stop?: StopDetails;
  /** The issue leaves the state immediately: its task is not created and the host is not shown the state. */
  passing?: true;
  /** The task of the issue, where the caller has it; read under lock if it is not given. */
  work?: CurrentWork;
  /** Id of the review of an approval on the host. */
  reviewId?: number;
}

/** The issue enters the state of a decision: its row, the transition, and the records of both. */
export async function changeState(
  unit: TransactionContext,
  subject: IssueContext,
  decision: Decision,
  { actor, stop = {} }: TransitionMetadata,
): Promise<IssueContext> {
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
  unit.rows.setIssue(issue.id, enteringState(change, liftMs));
  const planStatus = (await settlePlan(unit, issue, decision, actor)) ?? issue.plan_status;
  const moved = {
    ...subject,
    issue: { ...issue, ...change, ...enteredAt(issue.now, liftMs), plan_status: planStatus },
  };
  if (decision.isBlocked !== issue.is_blocked) recordBlock(unit, moved, issue.block_reason, actor);
  if (decision.to === 'done' || issue.state === 'done') {
    const place = { repoId: issue.repo_id, number: issue.issue_number };
    await settleSiIssue(unit.tx, unit.tenantId, place, decision.to === 'done');
  }
  return moved;
}

/** The times that `enterState` writes, in ISO 8601. */
const enteredAt = (now: string, liftMs: number | null) => ({
  state_entered_at: now,
  auto_unblock_at: liftAt(now, liftMs),
});

const liftAt = (now: string, liftMs: number | null): string | null =>
  liftMs === null ? null : new Date(Date.parse(now) + liftMs).toISOString();

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

/**
 * Another failure in a stop: the state stays, the newest reason replaces the old one and may set, keep or cancel the
 * automatic lift.
 */
export function updateStop(
  unit: TransactionContext,
  subject: IssueContext,
  decision: Decision,
  { stop }: TransitionMetadata,
): IssueContext {
  if (!stop) return subject;
  const { issue } = subject;
  const block_classification = stop.blockClassification ?? issue.block_classification;
  const change = {
    block_reason: decision.blockReason,
    block_classification,
    ...lastErrorOf(issue, { lastError: stop.lastError ?? issue.last_error }),
    auto_unblock_at: liftAfter(unit, issue, { block_classification, quotaMs: stop.quotaMs }),
  };
  unit.rows.setIssue(issue.id, change);
  return { ...subject, issue: { ...issue, ...change } };
}

/** Returns when a block is lifted after another failure in it. A lift that is set already keeps its time. */
function liftAfter(
  unit: TransactionContext,
  issue: IssueRow,
  { block_classification, quotaMs }: { block_classification: string | null; quotaMs: number | undefined },
): string | null {
  const { state, now, auto_unblock_at } = issue;
  if (state !== 'failure-blocked' || !LIFTED.includes(block_classification)) return null;
  if (auto_unblock_at !== null) return auto_unblock_at;
  return liftAt(now, quotaMs ?? autoUnblockIn(unit, issue, { state, block_classification }));
}

/** Blocks that are lifted automatically. */
const LIFTED: readonly (string | null)[] = ['transient', 'quota'];

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

/**
 * Ends the wait of a pending plan when its issue moves on, however it does. Issues without a pending plan cost nothing.
 * @returns the new status of the plan; null = it is unchanged.
 */
async function settlePlan(
  unit: TransactionContext,
  { id: issueId, plan_status: before }: IssueRow,
  { to, trigger }: Pick<Decision, 'to' | 'trigger'>,
  actor: Actor,
): Promise<PlanStatus | null> {
  if (before !== 'pending') return null;
  const status = planStatusAfter(to, trigger);
  if (status === 'pending') return null;
  const { tx, tenantId } = unit;
  const by = actor.id ?? actor.agent ?? actor.type;
  await answerPlan(tx, { tenantId, issueId }, { status, by, reason: actor.reason ?? null });
  unit.rows.setIssue(issueId, { plan_status: status });
  if (status === 'approved') await clearPlanRejections(tx, tenantId, issueId);
  return status;
}
