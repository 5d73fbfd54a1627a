import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { analytics, count, rate, Window, whose, windowParam } from './query.ts';

const alone = {
  ...analytics,
  summary: 'Show how many issues went through without a person',
  description:
    'Issues whose first pull request was merged within the window; autonomous are those for which agents opened every pull request and nobody asked for changes before that merge. Rates are percent with one decimal, 0 when nothing was merged.',
  query: z.object({ window: windowParam('7d'), ...whose }),
  replies: {
    200: {
      description: 'The figures, and those of the window before.',
      body: z
        .object({
          window: Window,
          mergedIssues: count,
          fullyAutonomousIssues: count,
          ratePct: rate,
          byDay: z.array(z.object({ date: z.iso.date(), merged: count, autonomous: count })).meta({
            description: 'Every UTC day that the window touches, oldest first.',
          }),
          weekOverWeek: z.object({
            current: z.object({ ratePct: rate }),
            previous: z.object({ ratePct: rate }).meta({ description: 'The window of equal length before.' }),
            deltaPp: z.number().meta({ description: 'Percentage points.' }),
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
  summary: 'Show who opened the pull requests that were merged',
  description: 'Of the pull requests merged within the window. Percent with one decimal; null when none was merged.',
  query: z.object({ window: windowParam('7d'), ...whose }),
  replies: {
    200: {
      description: 'The shares.',
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
