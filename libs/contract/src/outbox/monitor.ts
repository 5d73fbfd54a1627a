import { PROJECTION_STATUSES, ProjectionAction } from '@pipeline/domain';
import { z } from 'zod';
import { Ok, Timestamp, withReason } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** interface: Projection. */
const Projection = z
  .object({
    id: z.int(),
    repoOwner: z.string(),
    repoName: z.string(),
    issueNumber: z.int(),
    action: ProjectionAction,
    status: z.enum(PROJECTION_STATUSES),
    attempts: z.int().nonnegative(),
    maxAttempts: z.int().positive(),
    clientType: z.string(),
    retryAfter: Timestamp.nullable(),
    error: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Projection', description: 'A queued write to the version-control host.' });

const projections = { auth: 'operator', tags: ['Projections'] } as const;
const onOne = {
  ...projections,
  ...withReason,
  method: 'post',
  params: z.object({
    id: z
      .string()
      .regex(/^[1-9]\d{0,14}$/, 'must be a positive integer')
      .meta({ description: 'Projection id.', example: '42' }),
  }),
  errors: [{ code: 'NOT_FOUND', description: 'Unknown projection' }],
  refusals: { params: { code: 'INVALID_INPUT', message: 'Invalid request' } },
} as const;

const listProjections = route({
  ...projections,
  id: 'listProjections',
  method: 'get',
  path: '/api/projections',
  summary: 'List projections',
  description: 'Newest first; at most 500. Default: pending and failed.',
  query: z.object({
    status: z
      .enum(PROJECTION_STATUSES)
      .optional()
      .meta({ description: 'Returns only projections with this status.', example: 'failed' }),
  }),
  replies: { 200: { description: 'Projections.', body: z.object({ projections: z.array(Projection) }) } },
});

export const retryProjection = route({
  ...onOne,
  id: 'retryProjection',
  path: '/api/projections/{id}/retry',
  summary: 'Retry a projection',
  description:
    'Resets a projection in any status to pending with zero attempts. Writes that the host already has are not repeated.',
  replies: { 200: { description: 'The projection is pending.', body: Ok } },
});

export const discardProjection = route({
  ...onOne,
  id: 'discardProjection',
  path: '/api/projections/{id}/discard',
  summary: 'Discard a projection',
  description: 'Stops further attempts. Projections queued behind it in the same lane continue.',
  replies: { 200: { description: 'Discarded.', body: Ok } },
});

export const projectionRoutes = [listProjections, retryProjection, discardProjection] as const;
