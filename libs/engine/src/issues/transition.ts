import { AppError, isState, type State, validTargets } from '@pipeline/domain';
import { activeWorkflow, commandedAt, type IssueRow, issueById, lockIssue, resolveEdgesOf } from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, IssueKey } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { recordOperation } from '../records/records.ts';
import { admit } from '../workflow/admit.ts';
import { moveBy } from '../workflow/move.ts';

interface Targets {
  currentState: State;
  validTargets: State[];
}

/** interface: valid-transitions. @throws AppError ISSUE_NOT_FOUND, WORKFLOW_UNAVAILABLE. */
export async function transitionTargetsOf(engine: Engine, { tenantId, issueId }: IssueKey): Promise<Targets> {
  const db = engine.store.tenant;
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
    const issue = await lockIssue(unit.tx, unit.tenantId, key.issueId);
    if (!issue) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
    return moveTo(unit, issue, targetState, actor);
  });
}

/** The same inside a transaction that has locked the issue. */
export async function moveTo(
  unit: TransactionContext,
  issue: IssueRow,
  targetState: string,
  actor: Actor,
): Promise<{ from: State; to: State }> {
  unit.send(commandedAt(unit.tx, issue, 'command_at', null));
  const workflow = await activeWorkflow(unit.tx, unit.tenantId, issue.repo_id);
  if (!workflow) throw unavailable();
  const valid = validTargets(workflow, issue.state);
  if (!isState(targetState) || !valid.includes(targetState)) {
    const targets = valid.join(', ') || 'none';
    throw new AppError(
      'INVALID_TRANSITION',
      `Cannot move from ${issue.state} to ${targetState}. Valid targets: ${targets}`,
    );
  }
  if (issue.state === 'dependency-blocked') {
    // Otherwise the next decision would send it back.
    const child = { repoId: issue.repo_id, number: issue.issue_number };
    await resolveEdgesOf(unit.tx, unit.tenantId, child, 'operator');
  }
  const subject = await loadIssueContext(unit, issue);
  const moved = await moveBy(unit, subject, { cause: { trigger: 'operator', target: targetState }, actor });
  recordOperation(unit, subject, actor, { action: 'transition', from: issue.state, to: targetState });
  if (targetState === 'new') await admit(unit, moved.subject);
  return { from: issue.state, to: targetState };
}

const unavailable = (): AppError => new AppError('WORKFLOW_UNAVAILABLE', 'The repo has no active workflow snapshot');
