import { type Hold, isUsedUp } from '@pipeline/domain';
import { type IssueRow, spentToday } from '@pipeline/store';
import type { Engine, TransactionContext } from '../context/context.ts';

/** Returns whether a tenant has used up its day. Reads nothing without a daily limit, else the cost events of the day. */
export async function isDayUsedUp({ store, settings }: Engine, tenantId: number): Promise<boolean> {
  const { dailyUsd } = settings().costLimits;
  return dailyUsd !== null && isUsedUp(await spentToday(store.db, tenantId), dailyUsd);
}

/**
 * Returns whether a budget prevents a new task of an issue, including costs of this transaction. The issue is locked
 * and its row current; for a task without an issue only the tenant's day applies.
 */
async function isHeldByBudget(
  unit: TransactionContext,
  issue: Pick<IssueRow, 'cost_usd'> | undefined,
): Promise<boolean> {
  const { dailyUsd, perIssueUsd } = unit.settings.costLimits;
  if (issue && isUsedUp(issue.cost_usd, perIssueUsd)) return true;
  return dailyUsd !== null && isUsedUp(await spentToday(unit.tx, unit.tenantId), dailyUsd);
}

/** The hold for any task of an issue now: a pause first, then a budget. */
export async function currentHold(
  unit: TransactionContext,
  issue: Pick<IssueRow, 'cost_usd' | 'is_paused'> | undefined,
): Promise<Extract<Hold, 'paused' | 'budget'> | null> {
  if (issue?.is_paused) return 'paused';
  return (await isHeldByBudget(unit, issue)) ? 'budget' : null;
}
