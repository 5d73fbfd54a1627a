import { COST_WINDOWS } from '@pipeline/domain';
import { z } from 'zod';
import { UnreportedCosts } from '../costs/by-window.ts';
import { CostSummary } from '../costs/summary.ts';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { analytics, count, rate, usd, whose } from './query.ts';

const summary = {
  ...analytics,
  summary: 'Get the cost summary',
  description: 'LLM cost by window, by repo and by agent, in USD with four decimals. Costs by agent cover all time.',
  query: z.object(whose),
  replies: { 200: { description: 'Cost summary.', body: CostSummary } },
} as const;

export const pipelineCostSummary = route({ ...summary, id: 'pipelineCostSummary', path: '/api/pipeline/cost-summary' });
export const pipelineCostSummaryByName = route({
  ...summary,
  id: 'pipelineCostSummaryByName',
  path: '/pipeline/cost-summary',
});

const byModel = {
  ...analytics,
  summary: 'Get costs by model',
  description:
    'Costs are assigned to the time of each cost event, invocations to the time of their first cost event. An invocation reported without a cost is priced from its tokens by the model price table; without either, its cost is unreported. Sums above 9,007,199,254,740,991 (2^53 - 1) are capped at that value.',
  query: z.object({
    window: z
      .enum(COST_WINDOWS, `must be one of ${COST_WINDOWS.join(', ')}`)
      .default('7d')
      .meta({ description: 'Length of the window, which ends now. Default: 7d.', example: '7d' }),
    ...whose,
  }),
  replies: {
    200: {
      description: 'Models, highest cost first.',
      body: z
        .object({
          window: z.enum(COST_WINDOWS),
          totalUsd: usd,
          totalUnreportedCosts: UnreportedCosts,
          models: z.array(
            z.object({
              model: z.string(),
              provider: z.string(),
              usd,
              sharePct: rate.meta({ description: 'Percentage of the total spending in the window.' }),
              invocations: count,
              unreportedCosts: UnreportedCosts,
              inputTokens: count,
              outputTokens: count,
              cacheReadTokens: count,
              cacheWriteTokens: count,
              maxTurnsRate: rate.meta({ description: 'Percentage of invocations that hit the turn limit.' }),
              noProgressRate: rate.meta({ description: 'Percentage of invocations without meaningful progress.' }),
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
