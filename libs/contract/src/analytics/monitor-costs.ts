import { COST_WINDOWS } from '@pipeline/domain';
import { z } from 'zod';
import { CostSummary } from '../costs/summary.ts';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { analytics, count, rate, usd, whose } from './query.ts';

const summary = {
  ...analytics,
  summary: 'Show what everything has cost',
  description: 'By window, by repo and by agent; what agents have cost is over all time. USD with four decimals.',
  query: z.object(whose),
  replies: { 200: { description: 'The costs.', body: CostSummary } },
} as const;

export const pipelineCostSummary = route({ ...summary, id: 'pipelineCostSummary', path: '/api/pipeline/cost-summary' });
export const pipelineCostSummaryByName = route({
  ...summary,
  id: 'pipelineCostSummaryByName',
  path: '/pipeline/cost-summary',
});

const byModel = {
  ...analytics,
  summary: 'Show what each model has cost',
  description:
    'Money by the time of its booking, calls by the time at which they were first booked. A call that came without a price is priced by the table of model prices. A sum above 9,007,199,254,740,991 (2^53 - 1) is given as that number.',
  query: z.object({
    window: z
      .enum(COST_WINDOWS, `must be one of ${COST_WINDOWS.join(', ')}`)
      .default('7d')
      .meta({ description: 'How far back, ending now.', example: '7d' }),
    ...whose,
  }),
  replies: {
    200: {
      description: 'The models, the dearest first.',
      body: z
        .object({
          window: z.enum(COST_WINDOWS),
          totalUsd: usd,
          models: z.array(
            z.object({
              model: z.string(),
              provider: z.string(),
              usd,
              sharePct: rate.meta({ description: 'Percent of all spending of the window.' }),
              invocations: count,
              inputTokens: count,
              outputTokens: count,
              cacheReadTokens: count,
              cacheWriteTokens: count,
              maxTurnsRate: rate.meta({ description: 'Percent of calls that hit the turn limit.' }),
              noProgressRate: rate.meta({ description: 'Percent of calls without meaningful progress.' }),
            }),
          ),
          serverTimestamp: Timestamp,
        })
        .meta({ id: 'CostByModel' }),
    },
  },
} as const;

export const costByModel = route({ ...byModel, id: 'costByModel', path: '/api/pipeline/cost-by-model' });
export const costByModelByName = route({ ...byModel, id: 'costByModelByName', path: '/pipeline/cost-by-model' });
