import { BUDGET_PERCENTS } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

const usd = z.number().nonnegative();
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
        dailyUsd: usd.nullable().meta({ description: 'Null = there is no limit.' }),
        monthlyUsd: usd.nullable(),
        spentTodayUsd: usd.meta({ description: 'Since midnight UTC.' }),
        spentMonthUsd: usd.meta({ description: 'Since the first of the month, UTC.' }),
        percentUsedDaily: percentage,
        percentUsedMonthly: percentage,
        projectedMonthUsd: usd
          .nullable()
          .meta({ description: 'At the pace so far; null in the first instant of a month.' }),
        status: z.enum(['ok', 'warning', 'exceeded']),
        thresholdsPct: z.array(threshold),
        lastThresholdPct: threshold
          .nullable()
          .meta({ description: 'The highest one of today that people were told of.' }),
        inFlightIssues: z.int().nonnegative(),
        resetAt: Timestamp.meta({ description: 'When the day ends.' }),
      }),
    ),
    totalSpentTodayUsd: usd,
    totalSpentMonthUsd: usd,
    generatedAt: Timestamp,
  })
  .meta({ id: 'TenantBudgetDashboard', description: 'What tenants spend, and what they may.' });
