import { BUCKETS, SINCE_VALUES, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { clamped } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { analytics, count, Window, whose, windowParam } from './query.ts';

const State = z.enum(STATES);
const StateCounts = z.object(
  Object.fromEntries(STATES.map((state) => [state, z.int()])) as Record<(typeof STATES)[number], z.ZodInt>,
);

export const stateTimeseries = route({
  ...analytics,
  id: 'stateTimeseries',
  path: '/api/pipeline/state-timeseries',
  summary: 'Get issue counts by state over time',
  description:
    'Returns the number of issues in each state at the end of each bucket. Bucket ends are aligned to whole minutes unless buckets are shorter than a minute; the last bucket ends now.',
  query: z.object({
    window: windowParam('24h'),
    buckets: clamped({ ...BUCKETS, fallback: BUCKETS.default, notANumber: 'refuse' }).meta({
      description: `Number of buckets, ${BUCKETS.min} to ${BUCKETS.max}; values out of range are clamped. Default ${BUCKETS.default}.`,
      example: BUCKETS.default,
    }),
    ...whose,
  }),
  replies: {
    200: {
      description: 'Buckets, oldest first.',
      body: z
        .object({
          window: Window,
          buckets: z.array(
            z.object({
              ts: Timestamp.meta({ description: 'End of the bucket.' }),
              states: StateCounts,
            }),
          ),
          serverTimestamp: Timestamp,
        })
        .meta({ id: 'StateTimeseries' }),
    },
  },
});

export const cohortFunnel = route({
  ...analytics,
  id: 'cohortFunnel',
  path: '/api/pipeline/cohort-funnel',
  summary: 'Get the cohort funnel',
  description:
    'For the issues that entered the pipeline in the window: how many reached each state, and the median time in it. Medians are exact up to 10,000 state visits; above that they are within 1 % and the window starts at the full hour.',
  query: z.object({ window: windowParam('24h'), ...whose }),
  replies: {
    200: {
      description: 'Cohort funnel.',
      body: z
        .object({
          window: Window,
          cohortSize: count,
          byState: z
            .array(
              z.object({
                state: State,
                count,
                medianMinutes: z
                  .number()
                  .nonnegative()
                  .nullable()
                  .meta({ description: 'Median time in the state. Null while no issue has left it.' }),
              }),
            )
            .meta({
              description: 'Always includes the standard states; other states appear when an issue reached them.',
            }),
          drops: z.array(z.object({ from: State, to: State, count })).meta({
            description:
              'For consecutive standard states, by how much more issues reached the first than the second: those that left the path and those still before the second.',
          }),
          serverTimestamp: Timestamp,
        })
        .meta({ id: 'CohortFunnel' }),
    },
  },
});

export const throughput = route({
  ...analytics,
  id: 'throughput',
  path: '/api/pipeline/throughput',
  summary: 'Get the throughput',
  description: 'Counts the issues that moved to done since the start of the window. Each issue counts once.',
  query: z.object({
    since: z
      .enum(SINCE_VALUES, `must be one of ${SINCE_VALUES.join(', ')}`)
      .default('today')
      .meta({ description: 'Start of the window; `today` (default) = since midnight UTC.', example: 'today' }),
    ...whose,
  }),
  replies: {
    200: {
      description: 'Number of completed issues.',
      body: z
        .object({ since: z.enum(SINCE_VALUES), count, windowStart: Timestamp, serverTimestamp: Timestamp })
        .meta({ id: 'Throughput' }),
    },
  },
});
