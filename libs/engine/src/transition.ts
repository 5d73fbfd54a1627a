import { AppError, formatIssueRef, formatSlug, isState, parseSlug, type State, validTargets } from '@pipeline/domain';
import { activeWorkflow, findIssue, findReposBySlug, issueById, lockIssue, tenantIdOf } from '@pipeline/store';
import { admit } from './admit.ts';
import { type Engine, inTenant } from './context.ts';
import type { IssueKey } from './issue-actions.ts';
import { moveBy } from './move.ts';
import { recordOperation } from './records.ts';
import { type Actor, subjectOf } from './subject.ts';

export interface IssueAddress {
  owner: string;
  repo: string;
  number: number;
  /** External id; only needed where several tenants have a repo of that name. */
  tenant?: string | undefined;
}

/**
 * Finds the issue that a path names.
 * @throws AppError NOT_FOUND for an unknown or disabled repo, INVALID_INPUT when the tenant must be named,
 * ISSUE_NOT_FOUND.
 */
export async function findIssueKey(engine: Engine, address: IssueAddress): Promise<IssueKey> {
  const slug = parseSlug(`${address.owner}/${address.repo}`);
  const all = slug ? await findReposBySlug(engine.store.fleet, slug) : [];
  const tenantId = address.tenant === undefined ? null : await tenantIdOf(engine.store.fleet, address.tenant);
  const repos = address.tenant === undefined ? all : all.filter((repo) => repo.tenant_id === tenantId);
  const [repo, another] = repos;
  if (!slug || !repo) throw new AppError('NOT_FOUND', `Repo not found: ${address.owner}/${address.repo}`);
  if (another) {
    throw new AppError(
      'INVALID_INPUT',
      `Several tenants have ${formatSlug(slug)}: name one by the query parameter tenant`,
    );
  }
  const issue = await findIssue(engine.store.tenant, repo.tenant_id, repo.id, address.number);
  if (!issue) throw new AppError('ISSUE_NOT_FOUND', `Issue not found: ${formatIssueRef(repo, address.number)}`);
  return { tenantId: repo.tenant_id, issueId: issue.id };
}

export interface Targets {
  currentState: State;
  validTargets: State[];
}

/** interface: valid-transitions. @throws AppError ISSUE_NOT_FOUND, WORKFLOW_UNAVAILABLE. */
export async function targetsOf(engine: Engine, { tenantId, issueId }: IssueKey): Promise<Targets> {
  const db = engine.store.tenant;
  const issue = await issueById(db, tenantId, issueId);
  if (!issue) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
  const workflow = await activeWorkflow(db, tenantId, issue.repo_id);
  if (!workflow) throw unavailable();
  return { currentState: issue.state, validTargets: validTargets(workflow, issue.state) };
}

/**
 * Moves an issue where an operator wants it, along any outgoing edge of its state. An issue that is sent to `new` goes
 * on from there by itself, like any that enters.
 * @throws AppError ISSUE_NOT_FOUND, WORKFLOW_UNAVAILABLE, INVALID_TRANSITION with the targets that would be right.
 */
export function transition(
  engine: Engine,
  key: IssueKey,
  targetState: string,
  actor: Actor,
): Promise<{ from: State; to: State }> {
  return inTenant(engine, key.tenantId, async (unit) => {
    const issue = await lockIssue(unit.tx, unit.tenantId, key.issueId);
    if (!issue) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
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
    const subject = await subjectOf(unit, issue);
    const moved = await moveBy(unit, subject, { cause: { trigger: 'operator', target: targetState }, actor });
    recordOperation(unit, subject, actor, { action: 'transition', from: issue.state, to: targetState });
    if (targetState === 'new') await admit(unit, moved.subject);
    return { from: issue.state, to: targetState };
  });
}

const unavailable = (): AppError => new AppError('WORKFLOW_UNAVAILABLE', 'The repo has no active workflow snapshot');
