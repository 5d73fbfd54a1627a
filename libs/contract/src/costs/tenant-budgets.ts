import { BUDGET_PERCENTS } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

const usd = z.number().nonnegative();
const count = z.int().nonnegative();
const percentage = z.number().nonnegative().nullable();
const threshold = z.literal(BUDGET_PERCENTS);

/** interface: TenantBudgetDashboard. */
export const TenantBudgetDashboard = z
  .object({
    tenants: z.array(
      z.object({
        tenantId: z.int(),
        externalId: z.string(),
        name: z.string(),
        dailyUsd: usd.nullable().meta({ description: 'Daily budget in USD. Null = no limit.' }),
        monthlyUsd: usd.nullable(),
        spentTodayUsd: usd.meta({ description: 'Since midnight UTC.' }),
        spentMonthUsd: usd.meta({ description: 'Since the first day of the month, UTC.' }),
        unreportedCostsToday: count.meta({
          description: 'Model invocations since midnight UTC without a cost, which the sum does not contain.',
        }),
        unreportedCostsMonth: count.meta({
          description: 'Model invocations since the first day of the month without a cost.',
        }),
        percentUsedDaily: percentage,
        percentUsedMonthly: percentage,
        projectedMonthUsd: usd
          .nullable()
          .meta({ description: 'Linear projection of the current month. Null at the first instant of a month.' }),
        status: z.enum(['ok', 'warning', 'exceeded']),
        thresholdsPct: z.array(threshold),
        lastThresholdPct: threshold
          .nullable()
          .meta({ description: 'Highest threshold reported by an alert today. Null when none was reported.' }),
        inFlightIssues: z.int().nonnegative(),
        resetAt: Timestamp.meta({ description: 'End of the current UTC day, when daily spending resets.' }),
      }),
    ),
    totalSpentTodayUsd: usd,
    totalSpentMonthUsd: usd,
    generatedAt: Timestamp,
  })
  .meta({ id: 'TenantBudgetDashboard', description: 'Spending and budgets by tenant.' });
