import type { Cause, Decision, Refusal, State } from '@pipeline/domain';
import { insertDeadLetter } from '@pipeline/store';
import { advance, type Stop } from './advance.ts';
import type { Unit } from './context.ts';
import { recordPipelineEvent } from './records.ts';
import { type Actor, decideFor, type Subject } from './subject.ts';

export interface Moved {
  subject: Subject;
  /** Set when the transition was refused and became a dead letter; the issue stayed where it was. */
  deadLetterId?: string;
  decision?: Decision;
}

/**
 * The one way an issue is moved by what happened to it: decide, then carry it out, or record a dead letter so that
 * the refused transition is neither lost nor retried blindly.
 */
export async function moveBy(
  unit: Unit,
  subject: Subject,
  cause: Cause,
  actor: Actor,
  stop: Stop = {},
): Promise<Moved> {
  const decision = decideFor(subject, cause);
  if (decision.kind === 'refused') return { subject, deadLetterId: await bury(unit, subject, cause, decision, actor) };
  return { subject: await advance(unit, subject, decision, actor, stop), decision };
}

async function bury(unit: Unit, subject: Subject, cause: Cause, refusal: Refusal, actor: Actor): Promise<string> {
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
  await recordPipelineEvent(unit, subject, 'dead_letter_created', actor.agent ?? actor.type, { deadLetterId: id });
  unit.ring('svc_cache');
  return id;
}
