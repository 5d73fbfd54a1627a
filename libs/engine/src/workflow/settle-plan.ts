import { type Decision, type PlanStatus, planStatusAfter } from '@pipeline/domain';
import { answerPlan, clearPlanRejections, type IssueRow, setPlanStatus } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';

/**
 * Ends the wait of a pending plan when its issue moves on, however it does. Issues without a pending plan cost nothing.
 * @returns the new status of the plan; null = it is unchanged.
 */
export function settlePlan(
  unit: TransactionContext,
  { id: issueId, plan_status: before }: IssueRow,
  { to, trigger }: Pick<Decision, 'to' | 'trigger'>,
  actor: Actor,
): PlanStatus | null {
  if (before !== 'pending') return null;
  const status = planStatusAfter(to, trigger);
  if (status === 'pending') return null;
  const { tx, tenantId } = unit;
  const by = actor.id ?? actor.agent ?? actor.type;
  unit.send(answerPlan(tx, { tenantId, issueId }, { status, by, reason: actor.reason ?? null }));
  unit.send(setPlanStatus(tx, tenantId, issueId, status));
  if (status === 'approved') unit.send(clearPlanRejections(tx, tenantId, issueId));
  return status;
}
