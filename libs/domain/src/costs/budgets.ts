import type { AlertSeverity } from '../severities.ts';

/** Percent of a budget at which a notification is sent; at the last one no new task may be claimed. */
export const BUDGET_PERCENTS = [80, 90, 100] as const;
export type BudgetPercent = (typeof BUDGET_PERCENTS)[number];

/** The scope of a budget: one issue, or one tenant on one UTC day. */
export type BudgetScope = 'issue' | 'day';

const MICRO = 1_000_000;

/**
 * The highest threshold that spending has reached, computed in whole millionths of a dollar, as the store keeps it.
 * @param limitUsd null = there is no limit.
 * @returns null below the first one, and without a limit.
 */
export function reachedPercent(spentUsd: number, limitUsd: number | null): BudgetPercent | null {
  if (limitUsd === null) return null;
  const spent = Math.round(spentUsd * MICRO);
  const reached = BUDGET_PERCENTS.filter((percent) => spent >= Math.round((limitUsd * MICRO * percent) / 100));
  return reached.at(-1) ?? null;
}

/** An amount in USD with the six digits after the point that the store keeps. */
export const roundUsd = (usd: number): number => Math.round(usd * 1_000_000) / 1_000_000;

/** Returns whether a budget is used up: no new task may be claimed in its scope. */
export const isUsedUp = (spentUsd: number, limitUsd: number | null): boolean =>
  reachedPercent(spentUsd, limitUsd) === 100;

/** Thresholds to report after spending or a limit changed: newly reached ones, and those no longer reached. */
export function thresholdChanges(
  announced: BudgetPercent | null,
  reached: BudgetPercent | null,
): { passed: BudgetPercent[]; left: BudgetPercent[] } {
  return {
    passed: BUDGET_PERCENTS.filter((percent) => percent > (announced ?? 0) && percent <= (reached ?? 0)),
    left: BUDGET_PERCENTS.filter((percent) => percent <= (announced ?? 0) && percent > (reached ?? 0)),
  };
}

/** A used-up day stops a tenant and is critical; a used-up issue budget stops only that issue. */
export function budgetSeverity(scope: BudgetScope, percent: BudgetPercent): AlertSeverity {
  if (percent === 80) return 'info';
  return percent === 100 && scope === 'day' ? 'critical' : 'warning';
}
