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
  summary: 'Count what contradicts itself',
  description: 'As of the last look, over all tenants.',
  replies: {
    200: {
      description: 'How many findings there are.',
      body: z
        .object({
          total: count,
          byKind: z.object(byKind).meta({ description: 'Every kind, also those without findings.' }),
          computedAt: Timestamp.nullable().meta({ description: 'null = the first look has not ended.' }),
        })
        .meta({ id: 'ConsistencyCounts' }),
    },
  },
} as const;

const consistencyCounts = route({ ...counts, id: 'consistencyCounts', path: '/api/pipeline/consistency' });
const consistencyCountsByName = route({ ...counts, id: 'consistencyCountsByName', path: '/pipeline/consistency' });

export const consistencyCountRoutes = [consistencyCounts, consistencyCountsByName] as const;
