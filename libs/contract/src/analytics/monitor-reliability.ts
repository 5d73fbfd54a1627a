import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { analytics, count, Window, whose, windowParam } from './query.ts';

const seconds = z.number().nonnegative();

const weekly = {
  ...analytics,
  summary: 'Get the weekly reliability',
  description: 'Covers the last seven days, by repo. The degraded time covers the whole fleet.',
  query: z.object(whose),
  replies: {
    200: {
      description: 'Reliability of every enabled repo.',
      body: z
        .object({
          windowDays: z.literal(7),
          repos: z.array(
            z.object({
              repo: z.string(),
              completedCount: count,
              recoveredCount: count.meta({ description: 'Completed issues that had been blocked.' }),
              cycleTime: z
                .object({ p50Seconds: seconds.nullable(), p90Seconds: seconds.nullable() })
                .meta({ description: 'Time from the first transition to done. Null when no issue was completed.' }),
              deadLetters: z.object({ count }),
              retryBudget: z.object({ tasksRetried: count, totalRetriesConsumed: count }),
            }),
          ),
          degradedSeconds: seconds.meta({
            description: 'Seconds during which at least one worker was silent or stalled.',
          }),
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
  summary: 'Get the retrospective summary',
  description: 'Summarizes the retrospectives written in the window.',
  query: z.object({ window: windowParam('7d'), ...whose }),
  replies: {
    200: {
      description: 'Plan drift and outcomes.',
      body: z
        .object({
          window: Window,
          planDriftRatio: z.number().min(0).max(1).nullable().meta({
            description:
              'Share of retrospectives with file data whose changed files differ from the plan. Null without such retrospectives.',
          }),
          withFileData: count,
          byOutcome: z
            .record(z.string(), count)
            .meta({ description: 'Number of classified retrospectives by outcome.' }),
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
