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
  summary: 'Show how many issues were in each state over time',
  description:
    'Counts at the end of each bucket. Ends lie on whole minutes unless buckets are shorter; the last is now.',
  query: z.object({
    window: windowParam('24h'),
    buckets: clamped({ ...BUCKETS, fallback: BUCKETS.default, notANumber: 'refuse' }).meta({
      description: `How many buckets, ${BUCKETS.min} to ${BUCKETS.max}; clamped.`,
      example: BUCKETS.default,
    }),
    ...whose,
  }),
  replies: {
    200: {
      description: 'The buckets, oldest first.',
      body: z
        .object({
          window: Window,
          buckets: z.array(
            z.object({
              ts: Timestamp.meta({ description: 'The end of the bucket.' }),
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
  summary: 'Show how far new issues came',
  description:
    'Of the issues that entered the pipeline within the window: how many have been in each state, and the median time that they stayed there. Up to 20,000 stays medians are exact; beyond, within 1 %, and of the issues since the beginning of that hour.',
  query: z.object({ window: windowParam('24h'), ...whose }),
  replies: {
    200: {
      description: 'The funnel.',
      body: z
        .object({
          window: Window,
          cohortSize: count,
          byState: z
            .array(
              z.object({
                state: State,
                count,
                medianMinutes: z.number().nonnegative().nullable().meta({ description: 'null when none has left it.' }),
              }),
            )
            .meta({ description: 'The states of a plain issue always, others where one has been.' }),
          drops: z
            .array(z.object({ from: State, to: State, count }))
            .meta({ description: 'Between consecutive states of a plain issue.' }),
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
  summary: 'Count the issues that were done',
  description: 'Issues that moved to done since then, each once.',
  query: z.object({
    since: z
      .enum(SINCE_VALUES, `must be one of ${SINCE_VALUES.join(', ')}`)
      .default('today')
      .meta({ description: 'How far back; today = since midnight UTC.', example: 'today' }),
    ...whose,
  }),
  replies: {
    200: {
      description: 'The count.',
      body: z
        .object({ since: z.enum(SINCE_VALUES), count, windowStart: Timestamp, serverTimestamp: Timestamp })
        .meta({ id: 'Throughput' }),
    },
  },
});
