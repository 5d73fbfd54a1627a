import { type Cause, type Decision, isHeldBack, type Refusal, type State } from '@pipeline/domain';
import { insertDeadLetter } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { advance, type TransitionMetadata } from './advance.ts';
import { decideFor } from './decision.ts';

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
  if (decision.kind === 'refused') return { subject, deadLetterId: await bury(unit, subject, move, decision) };
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

async function bury(
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
