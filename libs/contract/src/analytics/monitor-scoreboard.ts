import { SCOREBOARD_WINDOW } from '@pipeline/domain';
import { z } from 'zod';
import { UnreportedCosts } from '../costs/by-window.ts';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { analytics, count, rate, usd, whose } from './query.ts';

const COMPARED = ['all', 'compared'] as const;

const AgentScore = z
  .object({
    agent: z.string().nullable().meta({
      description:
        'Agent of the first develop run that submitted the issue, as reported by the first invocation of the run or selected by the comparison. Null = not reported.',
      example: 'claude',
    }),
    model: z.string().nullable().meta({ description: 'Model of that invocation. Null = not reported.' }),
    mergedIssues: count.meta({ description: 'Issues first merged in the window.' }),
    firstPassReviewPct: rate.meta({
      description: 'Percentage of merged issues for which nobody requested changes before the merge.',
    }),
    firstPassCiPct: rate.nullable().meta({
      description:
        'Percentage of `checkedIssues` that failed checks never returned to development. Null without checked issues.',
    }),
    checkedIssues: count.meta({ description: 'Merged issues with at least one recorded check of the merged head.' }),
    reverts: count.meta({ description: 'Merged issues that were reverted by a pull request within 14 days.' }),
    wallTimeMinutes: z.number().nonnegative().meta({
      description: 'Median total time of the develop runs of a merged issue in minutes, one decimal.',
    }),
    costPerMergeUsd: usd.nullable().meta({
      description:
        'Mean cost of the develop runs of `pricedIssues` in USD, four decimals. Null without priced issues: the cost is not reported.',
    }),
    pricedIssues: count.meta({ description: 'Merged issues with invocations all of which have a cost.' }),
    unreportedCosts: UnreportedCosts,
  })
  .meta({ id: 'AgentScore', description: 'Figures of one agent and model.' });

export const agentScoreboard = route({
  ...analytics,
  id: 'agentScoreboard',
  path: '/api/agents/scoreboard',
  summary: 'Compare agents by their merged issues',
  description:
    'Returns one entry per agent and model with merged issues in the window, most issues first. Issues count when a pull request of the pipeline was first merged in the window after a submitted develop run.',
  query: z.object({
    window: z
      .string()
      .regex(SCOREBOARD_WINDOW, 'must be hours or days, such as 48h or 90d, at most 9999h or 999d')
      .default('30d')
      .meta({
        description: 'Length of the window, which ends now: 1h to 9999h or 1d to 999d. Default: 30d.',
        example: '30d',
      }),
    tasks: z
      .enum(COMPARED, `must be one of ${COMPARED.join(', ')}`)
      .default('all')
      .meta({
        description:
          '`compared` restricts the result to issues whose develop task was given to its agent by a comparison (setting `compare` of the repo). Default: `all`.',
        example: 'all',
      }),
    ...whose,
  }),
  replies: {
    200: {
      description: 'Agents and models, most merged issues first.',
      body: z
        .object({
          window: z.string().regex(SCOREBOARD_WINDOW),
          tasks: z.enum(COMPARED),
          items: z.array(AgentScore),
          serverTimestamp: Timestamp,
        })
        .meta({ id: 'AgentScoreboard' }),
    },
  },
});
