import { KPI_MAGNITUDES, KPIS } from '@pipeline/domain';
import { z } from 'zod';
import { PolledAt, Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const value = z.number().nullable();
const count = z.int().nonnegative();

/** interface: Regression KPI. */
export const RegressionKpi = z
  .object({
    kpi: z.enum(KPIS),
    currentValue: value.meta({ description: 'Of the last 7 days; null where nothing can be said.' }),
    baselineValue: value.meta({ description: 'Mean of the four weeks before, of those that have a value.' }),
    relativeDelta: value.meta({ description: '(current - baseline) / baseline; null with a baseline of 0 or none.' }),
    currentSampleSize: count.meta({ description: 'Issues that the value is taken over.' }),
    baselineSampleSize: count,
    regressed: z.boolean().meta({
      description: 'Worse by a fifth or more, with 5 issues at least on either side.',
    }),
    magnitude: z.enum(KPI_MAGNITUDES).meta({
      description: 'Of the change either way: below 0.2, below 0.5, below 1, from 1 on.',
    }),
    direction: z.enum(['rise', 'fall']).meta({ description: 'The way in which it gets worse.' }),
    history: z
      .array(z.object({ computedAt: Timestamp, value }))
      .meta({ description: 'One entry a day, newest first: at most 30.' }),
  })
  .meta({ id: 'RegressionKpi', description: 'How a figure of a repo does against its own past.' });

const readRegressionGuard = route({
  id: 'readRegressionGuard',
  method: 'get',
  path: '/api/regression-guard',
  summary: 'Show what got worse',
  description:
    'Every enabled repo that the guard has looked at, as of the last poll. Units are those of the metric definitions.',
  tags: ['Observability'],
  auth: 'operator',
  replies: {
    200: {
      description: 'The repos by name, each with all KPIs.',
      body: z.object({
        repos: z.array(z.object({ owner: z.string(), repo: z.string(), kpis: z.array(RegressionKpi) })),
        polledAt: PolledAt,
      }),
    },
  },
});

export const regressionGuardRoutes = [readRegressionGuard] as const;
