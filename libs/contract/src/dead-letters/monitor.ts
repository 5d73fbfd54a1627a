import { type DeadLetter as DomainDeadLetter, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { CachedPage, Ok, Timestamp, withReason } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';

/** interface: Dead letter. */
const DeadLetter = z
  .object({
    id: z.uuid(),
    repoOwner: z.string(),
    repoName: z.string(),
    issueNumber: z.int(),
    fromState: z.enum(STATES).nullable(),
    targetState: z.string(),
    agentName: z.string().nullable(),
    error: z.string(),
    createdAt: Timestamp,
  })
  .meta({
    id: 'DeadLetter',
    description: 'A state transition that failed permanently and was recorded instead of retried.',
  });

const wire: (row: DomainDeadLetter) => z.input<typeof DeadLetter> = (row) => row;
void wire;

const common = { auth: 'operator', tags: ['Dead letters'] } as const;
const params = z.object({
  id: z.string().min(1).meta({ description: 'Dead letter id.', example: '0198c5a4-7c1e-7000-8000-000000000001' }),
});

export const listDeadLetters = route({
  ...common,
  id: 'listDeadLetters',
  method: 'get',
  path: '/api/dead-letters',
  summary: 'List unresolved dead letters',
  description: 'Newest first. An invalid limit or offset falls back to its default.',
  query: z.object(pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'default' })),
  replies: { 200: { description: 'One page of dead letters.', body: CachedPage(DeadLetter) } },
});

// Declared before the routes with {id}: the first match wins.
const resolveAllDeadLetters = route({
  ...common,
  ...withReason,
  id: 'resolveAllDeadLetters',
  method: 'post',
  path: '/api/dead-letters/resolve-all',
  summary: 'Resolve all dead letters',
  description:
    'Marks all dead letters as resolved without retrying their transitions. A failure does not stop the others; its id is listed in `failed`.',
  replies: {
    200: {
      description: 'Result of the batch.',
      body: z.object({
        ok: z.literal(true),
        resolved: z.int().nonnegative().meta({ description: 'Number of dead letters attempted.' }),
        failed: z.array(z.string()).meta({ description: 'Ids of dead letters that could not be resolved.' }),
      }),
    },
  },
});

export const retryDeadLetter = route({
  ...common,
  ...withReason,
  id: 'retryDeadLetter',
  method: 'post',
  path: '/api/dead-letters/{id}/retry',
  summary: 'Retry a dead letter',
  description: 'Retries the transition. On success, resolves the dead letter and returns the new state.',
  params,
  replies: {
    200: {
      description: 'Result of the retry. `newState` is set on success.',
      body: z.object({ ok: z.literal(true), newState: z.string().optional() }),
    },
  },
  errors: ['DEAD_LETTER_NOT_FOUND'],
  refusals: { params: { code: 'DEAD_LETTER_NOT_FOUND' } },
});

export const resolveDeadLetter = route({
  ...common,
  ...withReason,
  id: 'resolveDeadLetter',
  method: 'post',
  path: '/api/dead-letters/{id}/resolve',
  summary: 'Resolve a dead letter',
  description:
    'Marks the dead letter as resolved without retrying its transition. Idempotent: an unknown id also returns 200.',
  params,
  replies: { 200: { description: 'Resolved.', body: Ok } },
});

export const deadLetterRoutes = [listDeadLetters, resolveAllDeadLetters, retryDeadLetter, resolveDeadLetter] as const;
