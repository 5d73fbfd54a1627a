import {
  BUDGET_PERCENTS,
  type BudgetPercent,
  DAY_MS,
  reachedPercent,
  roundToTenth,
  utcMidnight,
} from '@pipeline/domain';
import type { TenantSpend } from '@pipeline/store';
import type { Live } from './readings.ts';

/** What a tenant spends, and what it may (interface: TenantBudgetDashboard). USD. */
export interface TenantBudget {
  tenantId: number;
  externalId: string;
  name: string;
  dailyUsd: number | null;
  monthlyUsd: null;
  spentTodayUsd: number;
  spentMonthUsd: number;
  percentUsedDaily: number | null;
  percentUsedMonthly: null;
  /** Null on the first day of a month, of which nothing can be told yet. */
  projectedMonthUsd: number | null;
  status: 'ok' | 'warning' | 'exceeded';
  thresholdsPct: BudgetPercent[];
  lastThresholdPct: BudgetPercent | null;
  inFlightIssues: number;
  resetAt: string;
}

export interface TenantBudgets {
  tenants: TenantBudget[];
  totalSpentTodayUsd: number;
  totalSpentMonthUsd: number;
  generatedAt: string;
}

/** @param dailyUsd the limit of a day, which is the same for every tenant; null = none. */
export function tenantBudgets(
  { tenants, inFlight, now }: Pick<Live, 'tenants' | 'inFlight' | 'now'>,
  dailyUsd: number | null,
): TenantBudgets {
  const at = new Date(now);
  const budgets = tenants.map((tenant) => ({
    tenantId: tenant.tenantId,
    externalId: tenant.externalId,
    name: tenant.name,
    dailyUsd,
    monthlyUsd: null,
    ...spendingOf(tenant, dailyUsd, at),
    thresholdsPct: [...BUDGET_PERCENTS],
    lastThresholdPct: tenant.toldPercent,
    inFlightIssues: new Set(
      inFlight.filter(({ tenantId }) => tenantId === tenant.tenantId).map((of) => `${of.repoId}#${of.issueNumber}`),
    ).size,
    resetAt: new Date(utcMidnight(at).getTime() + DAY_MS).toISOString(),
  }));
  return {
    tenants: budgets,
    totalSpentTodayUsd: total(budgets.map(({ spentTodayUsd }) => spentTodayUsd)),
    totalSpentMonthUsd: total(budgets.map(({ spentMonthUsd }) => spentMonthUsd)),
    generatedAt: now,
  };
}

function spendingOf({ todayUsd, monthUsd }: TenantSpend, dailyUsd: number | null, at: Date) {
  const reached = reachedPercent(todayUsd, dailyUsd);
  const status: TenantBudget['status'] = reached === 100 ? 'exceeded' : reached === null ? 'ok' : 'warning';
  return {
    spentTodayUsd: todayUsd,
    spentMonthUsd: monthUsd,
    percentUsedDaily: dailyUsd === null ? null : roundToTenth((100 * todayUsd) / dailyUsd),
    percentUsedMonthly: null,
    projectedMonthUsd: projected(monthUsd, at),
    status,
  };
}

/** The month at the pace that it has had so far. */
function projected(monthUsd: number, at: Date): number | null {
  const start = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  const end = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
  const elapsed = at.getTime() - start;
  return elapsed < DAY_MS ? null : toFourDecimals((monthUsd * (end - start)) / elapsed);
}

const toFourDecimals = (usd: number): number => Math.round(usd * 10_000) / 10_000;
const total = (amounts: readonly number[]): number => toFourDecimals(amounts.reduce((sum, usd) => sum + usd, 0));
