import { BUDGET_PERCENTS, DAY_MS, percent, reachedPercent, sumUsd, utcMidnight } from '@pipeline/domain';
import { spendingOfTenants, storeNow, type TenantSpending } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/** Costs of every tenant compared with the current limits (interface: TenantBudgetDashboard). Money is USD. */
export async function tenantBudgets(engine: Engine) {
  const { db } = engine.store;
  const generatedAt = await storeNow(db);
  const now = new Date(generatedAt);
  const { dailyUsd } = engine.settings().costLimits;
  const spending = await spendingOfTenants(db);
  return {
    tenants: spending.map((tenant) => budgetOf(tenant, { dailyUsd, now })),
    totalSpentTodayUsd: sumUsd(spending.map(({ todayUsd }) => todayUsd)),
    totalSpentMonthUsd: sumUsd(spending.map(({ monthUsd }) => monthUsd)),
    generatedAt,
  };
}

function budgetOf(spent: TenantSpending, { dailyUsd, now }: { dailyUsd: number | null; now: Date }) {
  const { tenantId, externalId, name, todayUsd, monthUsd, toldPercent, inFlight } = spent;
  const percentUsedDaily = dailyUsd === null ? null : dailyUsd === 0 ? 100 : percent(todayUsd, dailyUsd);
  const reached = reachedPercent(todayUsd, dailyUsd);
  return {
    tenantId,
    externalId,
    name,
    dailyUsd,
    monthlyUsd: null,
    spentTodayUsd: sumUsd([todayUsd]),
    spentMonthUsd: sumUsd([monthUsd]),
    unreportedCostsToday: spent.todayUnreported,
    unreportedCostsMonth: spent.monthUnreported,
    percentUsedDaily,
    percentUsedMonthly: null,
    projectedMonthUsd: projected(monthUsd, now),
    status: reached === 100 ? ('exceeded' as const) : reached === null ? ('ok' as const) : ('warning' as const),
    thresholdsPct: [...BUDGET_PERCENTS],
    lastThresholdPct: toldPercent,
    inFlightIssues: inFlight,
    resetAt: new Date(utcMidnight(now).getTime() + DAY_MS).toISOString(),
  };
}

/** Linear projection of the month's cost; null in its first instant. */
function projected(spentUsd: number, now: Date): number | null {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const start = Date.UTC(year, month, 1);
  const elapsed = now.getTime() - start;
  return elapsed === 0 ? null : sumUsd([(spentUsd / elapsed) * (Date.UTC(year, month + 1, 1) - start)]);
}
