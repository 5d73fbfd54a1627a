import type { Decision, ErrorClass } from '@pipeline/domain';
import { enterState, resolveEdgesAtEnd, updateIssue } from '@pipeline/store';
import type { Unit } from './context.ts';
import { closingActions, projectIssue } from './project.ts';
import { recordPipelineEvent, recordTransition } from './records.ts';
import type { Actor, Subject } from './subject.ts';
import { replaceWorkTask } from './work-tasks.ts';

/** Facts that a stop leaves on the issue beside its state. */
export interface Stop {
  blockClassification?: ErrorClass | null;
  question?: string | null;
  lastError?: string | null;
}

export interface Carrier {
  actor: Actor;
  stop?: Stop;
}

/**
 * Carries out a decision, inside the caller's transaction: issue row, transition, events, next task, projections.
 * The issue's row is locked, so nobody else moves it meanwhile. Nothing else in the product writes an issue's state.
 * @returns the subject as it is now.
 */
export async function advance(unit: Unit, subject: Subject, decision: Decision, by: Carrier): Promise<Subject> {
  const moved =
    decision.kind === 'move' ? await move(unit, subject, decision, by) : await stay(unit, subject, decision, by);
  await replaceWorkTask(unit, moved, decision.nextTask);
  const closing = await closingActions(unit, moved, decision);
  await projectIssue(unit, moved, [...decision.projections, ...closing]);
  return moved;
}

async function move(unit: Unit, subject: Subject, decision: Decision, { actor, stop = {} }: Carrier): Promise<Subject> {
  const { issue } = subject;
  const forced = decision.trigger === 'operator';
  await recordTransition(unit, subject, { to: decision.to, trigger: decision.trigger, forced }, actor);
  const change = {
    state: decision.to,
    is_blocked: decision.isBlocked,
    block_reason: decision.blockReason,
    block_classification: decision.isBlocked ? (stop.blockClassification ?? null) : null,
    blocked_from_state: decision.blockedFromState,
    question: decision.to === 'needs-clarification' ? (stop.question ?? issue.question) : null,
    last_error: stop.lastError === undefined ? issue.last_error : stop.lastError,
    is_paused: issue.is_paused && decision.to !== 'done',
  };
  await enterState(unit.tx, unit.tenantId, issue.id, change);
  if (decision.isBlocked !== issue.is_blocked) await recordBlock(unit, subject, decision, actor);
  if (decision.to === 'done') {
    const by = MERGED.includes(decision.trigger) ? 'merged' : 'cancelled';
    await resolveEdgesAtEnd(unit.tx, unit.tenantId, { repoId: issue.repo_id, number: issue.issue_number }, by);
  }
  return { ...subject, issue: { ...issue, ...change } };
}

/** Ways to the end on which the work was taken over. */
const MERGED: readonly string[] = ['merged', 'host-merged', 'subtasks-done'];

/** Failed again where it stands: the state holds, its reason is the newest one. */
async function stay(unit: Unit, subject: Subject, decision: Decision, { stop }: Carrier): Promise<Subject> {
  if (!stop) return subject;
  const { issue } = subject;
  const change = {
    block_reason: decision.blockReason,
    block_classification: stop.blockClassification ?? issue.block_classification,
    last_error: stop.lastError ?? issue.last_error,
  };
  await updateIssue(unit.tx, unit.tenantId, issue.id, change);
  return { ...subject, issue: { ...issue, ...change } };
}

async function recordBlock(unit: Unit, subject: Subject, decision: Decision, actor: Actor): Promise<void> {
  await recordPipelineEvent(unit, subject, {
    eventType: decision.isBlocked ? 'issue_blocked' : 'issue_unblocked',
    agent: actor.agent ?? actor.type,
    payload: {
      blockReason: decision.isBlocked ? decision.blockReason : subject.issue.block_reason,
      classification: subject.issue.block_classification,
      automatic: actor.type !== 'operator',
    },
  });
}
