import { CONSISTENCY_KINDS, type ConsistencyKind } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const count = z.int().nonnegative();
const byKind = Object.fromEntries(CONSISTENCY_KINDS.map((kind) => [kind, count])) as Record<
  ConsistencyKind,
  typeof count
>;

const counts = {
  method: 'get',
  auth: 'operator',
  tags: ['Consistency'],
  summary: 'Count consistency findings',
  description: 'Counts over all tenants as of the latest scan.',
  replies: {
    200: {
      description: 'Number of findings.',
      body: z
        .object({
          total: count,
          byKind: z.object(byKind).meta({ description: 'Number of findings by kind. All kinds are present.' }),
          computedAt: Timestamp.nullable().meta({
            description: 'Time of the scan. Null before the first scan completes.',
          }),
        })
        .meta({ id: 'ConsistencyCounts' }),
    },
  },
} as const;

const consistencyCounts = route({ ...counts, id: 'consistencyCounts', path: '/api/pipeline/consistency' });
const consistencyCountsByName = route({ ...counts, id: 'consistencyCountsByName', path: '/pipeline/consistency' });

export const consistencyCountRoutes = [consistencyCounts, consistencyCountsByName] as const;
