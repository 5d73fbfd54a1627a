import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { analytics, count, rate, Window, whose, windowParam } from './query.ts';

const rateOfMerges = z.object({
  ratePct: rate,
  mergedIssues: count.meta({ description: 'The issues that the rate is of.' }),
});

const alone = {
  ...analytics,
  summary: 'Get the autonomous merge rate',
  description:
    'Counts issues whose first pull request was merged in the window. An issue is autonomous when agents opened every pull request and no review requested changes before that merge. Rates are percentages with one decimal; 0 when nothing was merged.',
  query: z.object({ window: windowParam('7d'), ...whose }),
  replies: {
    200: {
      description: 'Counts and rates, with a comparison to the previous window.',
      body: z
        .object({
          window: Window,
          mergedIssues: count,
          fullyAutonomousIssues: count,
          ratePct: rate,
          byDay: z.array(z.object({ date: z.iso.date(), merged: count, autonomous: count })).meta({
            description: 'One entry per UTC day of the window, oldest first.',
          }),
          weekOverWeek: z.object({
            current: rateOfMerges,
            previous: rateOfMerges.meta({ description: 'The previous window of equal length.' }),
            deltaPp: z.number().meta({
              description:
                'Difference in percentage points. Says nothing when one of the windows has no merged issues.',
            }),
          }),
          serverTimestamp: Timestamp,
        })
        .meta({ id: 'Autonomy' }),
    },
  },
} as const;

export const autonomy = route({ ...alone, id: 'autonomy', path: '/api/pipeline/autonomy' });
export const autonomyByName = route({ ...alone, id: 'autonomyByName', path: '/pipeline/autonomy' });

const spec = {
  ...analytics,
  summary: 'Get the attribution of merged pull requests',
  description:
    'Shares of agents and humans in the pull requests merged in the window. Percentages have one decimal; null when none was merged.',
  query: z.object({ window: windowParam('7d'), ...whose }),
  replies: {
    200: {
      description: 'Counts and shares.',
      body: z
        .object({
          window: Window,
          mergedPrs: count,
          agentPrs: count,
          humanPrs: count,
          agentRatio: z.number().min(0).max(1).nullable(),
          agentPct: rate.nullable(),
          humanPct: rate.nullable(),
          serverTimestamp: Timestamp,
        })
        .meta({ id: 'Attribution' }),
    },
  },
} as const;

export const attribution = route({ ...spec, id: 'attribution', path: '/api/pipeline/attribution' });
export const attributionByName = route({ ...spec, id: 'attributionByName', path: '/pipeline/attribution' });
