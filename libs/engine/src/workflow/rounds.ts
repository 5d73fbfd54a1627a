import { type Cause, type Decision, endsRounds, roundLimit, roundOf } from '@pipeline/domain';
import { jsonb } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { type Actor, ENGINE, type IssueContext } from '../context/issue-context.ts';
import type { TransitionMetadata } from './change-issue.ts';

/** The transition that asks a person instead of beginning another round. */
export interface RoundLimit extends TransitionMetadata {
  cause: Cause;
}

/**
 * Counts the round that a decision about a locked issue begins; the decision of a person starts the count again.
 * @returns the issue with its rounds, and the transition to a person where the repo allows no further round.
 */
export function countRound(
  unit: TransactionContext,
  subject: IssueContext,
  decision: Decision,
  { cause, actor }: { cause: Cause; actor: Actor },
): { subject: IssueContext; limit: RoundLimit | null } {
  const { issue, repo } = subject;
  const isOfPerson = endsRounds(decision.trigger) || (decision.trigger === 'unblocked' && actor.type === 'operator');
  if (isOfPerson) return { subject: restartRounds(unit, subject), limit: null };
  const from = issue.state === 'failure-blocked' ? (issue.blocked_from_state ?? issue.state) : issue.state;
  const edge = roundOf({ from, trigger: decision.trigger }, cause);
  if (edge === null) return { subject, limit: null };
  const begun = issue.rounds[edge] ?? 0;
  if (begun >= repo.max_rounds) return { subject, limit: limitOf(edge, repo.max_rounds, actor) };
  const rounds = { ...issue.rounds, [edge]: begun + 1 };
  unit.rows.setIssue(issue.id, { rounds: jsonb(rounds) as never });
  return { subject: { ...subject, issue: { ...issue, rounds } }, limit: null };
}

/** Forgets the rounds of a locked issue, because a person has acted on it. */
export function restartRounds(unit: TransactionContext, subject: IssueContext): IssueContext {
  const { issue } = subject;
  if (Object.keys(issue.rounds).length === 0) return subject;
  unit.rows.setIssue(issue.id, { rounds: jsonb({}) as never });
  return { ...subject, issue: { ...issue, rounds: {} } };
}

function limitOf(edge: string, maxRounds: number, { reason }: Actor): RoundLimit {
  const { blockReason, lastError } = roundLimit(edge, maxRounds);
  const text = reason ? `${lastError} The last time: ${reason}` : lastError;
  return {
    cause: { trigger: 'exhausted', blockReason },
    actor: { ...ENGINE, reason: lastError },
    stop: { blockClassification: 'unknown', lastError: text },
  };
}
