import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { analytics, count, Window, whose, windowParam } from './query.ts';

const seconds = z.number().nonnegative();

const weekly = {
  ...analytics,
  summary: 'Show how reliably each repo worked',
  description: 'The last seven days, by repo; the degraded time is of the whole fleet.',
  query: z.object(whose),
  replies: {
    200: {
      description: 'Every enabled repo.',
      body: z
        .object({
          windowDays: z.literal(7),
          repos: z.array(
            z.object({
              repo: z.string(),
              completedCount: count,
              recoveredCount: count.meta({ description: 'Those of them that had been blocked.' }),
              cycleTime: z
                .object({ p50Seconds: seconds.nullable(), p90Seconds: seconds.nullable() })
                .meta({ description: 'From the first transition to done; null when nothing was completed.' }),
              deadLetters: z.object({ count }),
              retryBudget: z.object({ tasksRetried: count, totalRetriesConsumed: count }),
            }),
          ),
          degradedSeconds: seconds.meta({ description: 'With at least one worker silent or stalled.' }),
        })
        .meta({ id: 'WeeklyReliability' }),
    },
  },
} as const;

export const weeklyReliability = route({
  ...weekly,
  id: 'weeklyReliability',
  path: '/api/pipeline/weekly-reliability',
});
export const weeklyReliabilityByName = route({
  ...weekly,
  id: 'weeklyReliabilityByName',
  path: '/pipeline/weekly-reliability',
});

const retrospectives = {
  ...analytics,
  summary: 'Show what retrospectives say',
  description: 'Of the retrospectives written within the window.',
  query: z.object({ window: windowParam('7d'), ...whose }),
  replies: {
    200: {
      description: 'The figures.',
      body: z
        .object({
          window: Window,
          planDriftRatio: z.number().min(0).max(1).nullable().meta({
            description: 'Share of those with file data that strayed from their plan; null without any.',
          }),
          withFileData: count,
          byOutcome: z.record(z.string(), count).meta({ description: 'Those that were classified, by outcome.' }),
          serverTimestamp: Timestamp,
        })
        .meta({ id: 'RetrospectiveSummary' }),
    },
  },
} as const;

export const retrospectiveSummary = route({
  ...retrospectives,
  id: 'retrospectiveSummary',
  path: '/api/pipeline/retrospectives',
});
export const retrospectiveSummaryByName = route({
  ...retrospectives,
  id: 'retrospectiveSummaryByName',
  path: '/pipeline/retrospectives',
});
