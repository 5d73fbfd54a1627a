import { AppError, isState, type State, validTargets } from '@pipeline/domain';
import { activeWorkflow, commandedAt, issueById, resolveEdgesOf } from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext, IssueKey, OpenIssue } from '../context/issue-context.ts';
import { openIssue } from '../context/load-issue.ts';
import { recordOperation } from '../records/records.ts';
import { admit } from '../workflow/admit.ts';
import { moveBy } from '../workflow/move.ts';

interface Targets {
  currentState: State;
  validTargets: State[];
}

/** interface: valid-transitions. @throws AppError ISSUE_NOT_FOUND, WORKFLOW_UNAVAILABLE. */
export async function transitionTargetsOf(engine: Engine, { tenantId, issueId }: IssueKey): Promise<Targets> {
  const db = engine.store.db;
  const issue = await issueById(db, tenantId, issueId);
  if (!issue) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
  const workflow = await activeWorkflow(db, tenantId, issue.repo_id);
  if (!workflow) throw unavailable();
  return { currentState: issue.state, validTargets: validTargets(workflow, issue.state) };
}

/**
 * Moves an issue for an operator along any outgoing edge of its state. An issue that is sent to `new` moves on
 * automatically, like an admitted one.
 * @throws AppError ISSUE_NOT_FOUND, WORKFLOW_UNAVAILABLE, INVALID_TRANSITION with the valid targets.
 */
export function transitionIssue(
  engine: Engine,
  key: IssueKey,
  targetState: string,
  actor: Actor,
): Promise<{ from: State; to: State }> {
  return inTenant(engine, key.tenantId, async (unit) => {
    const open = await openIssue(unit, key.issueId);
    if (!open) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
    return moveTo(unit, open, targetState, actor);
  });
}

/** The same inside a transaction that has opened the issue. */
export async function moveTo(
  unit: TransactionContext,
  { subject, work, hasWorkflow }: OpenIssue,
  targetState: string,
  actor: Actor,
): Promise<{ from: State; to: State }> {
  const { issue } = subject;
  await commandedAt(unit.tx, issue, 'command_at', null);
  if (!hasWorkflow) throw unavailable();
  const valid = validTargets(subject.workflow, issue.state);
  if (!isState(targetState) || !valid.includes(targetState)) {
    const targets = valid.join(', ') || 'none';
    throw new AppError(
      'INVALID_TRANSITION',
      `Cannot move from ${issue.state} to ${targetState}. Valid targets: ${targets}`,
    );
  }
  const free = issue.state === 'dependency-blocked' ? await giveUpDependencies(unit, subject) : subject;
  const moved = await moveBy(unit, free, { cause: { trigger: 'operator', target: targetState }, actor, work });
  recordOperation(unit, free, actor, { action: 'transition', from: issue.state, to: targetState });
  if (targetState === 'new') await admit(unit, moved.subject);
  return { from: issue.state, to: targetState };
}

/** Otherwise the next decision would send the issue back. */
async function giveUpDependencies(unit: TransactionContext, subject: IssueContext): Promise<IssueContext> {
  const child = { repoId: subject.issue.repo_id, number: subject.issue.issue_number };
  await resolveEdgesOf(unit.tx, unit.tenantId, child, 'operator');
  return { ...subject, openDependencies: 0 };
}

const unavailable = (): AppError => new AppError('WORKFLOW_UNAVAILABLE', 'The repo has no active workflow snapshot');
