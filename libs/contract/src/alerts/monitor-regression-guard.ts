import { KPI_MAGNITUDES, KPIS } from '@pipeline/domain';
import { z } from 'zod';
import { PolledAt, Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const value = z.number().nullable();
const count = z.int().nonnegative();

/** interface: Regression KPI. */
const RegressionKpi = z
  .object({
    kpi: z.enum(KPIS),
    currentValue: value.meta({ description: 'Value of the last 7 days. Null without samples.' }),
    baselineValue: value.meta({ description: 'Mean of the four preceding weeks; weeks without a value are skipped.' }),
    relativeDelta: value.meta({
      description: '(current - baseline) / baseline. Null when the baseline is 0 or missing.',
    }),
    currentSampleSize: count.meta({ description: 'Number of issues in the current window.' }),
    baselineSampleSize: count,
    regressed: z.boolean().meta({
      description: 'True when the KPI is worse by 20 % or more, with at least 5 issues in both windows.',
    }),
    magnitude: z.enum(KPI_MAGNITUDES).meta({
      description: 'Absolute relative change: `low` below 0.2, `medium` below 0.5, `high` below 1, `large` from 1.',
    }),
    direction: z.enum(['rise', 'fall']).meta({ description: 'Direction of change that makes the KPI worse.' }),
    history: z
      .array(z.object({ computedAt: Timestamp, value }))
      .meta({ description: 'One entry per day, newest first; at most 30.' }),
  })
  .meta({ id: 'RegressionKpi', description: 'A KPI of a repo compared with its baseline.' });

const readRegressionGuard = route({
  id: 'readRegressionGuard',
  method: 'get',
  path: '/api/regression-guard',
  summary: 'Get regression KPIs',
  description:
    'Returns all KPIs of every enabled repo that has been evaluated, as of the last poll. Units are given by the metric definitions.',
  tags: ['Observability'],
  auth: 'operator',
  replies: {
    200: {
      description: 'Repos ordered by name, each with all KPIs.',
      body: z.object({
        repos: z.array(z.object({ owner: z.string(), repo: z.string(), kpis: z.array(RegressionKpi) })),
        polledAt: PolledAt,
      }),
    },
  },
});

export const regressionGuardRoutes = [readRegressionGuard] as const;
