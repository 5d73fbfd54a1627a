import { type DeadLetter as DomainDeadLetter, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { CachedPage, Ok, Timestamp, withReason } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';

/** interface: Dead letter. */
export const DeadLetter = z
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
  .meta({ id: 'DeadLetter', description: 'A transition that failed for good and was recorded instead of retried.' });

const wire: (row: DomainDeadLetter) => z.input<typeof DeadLetter> = (row) => row;
void wire;

const letters = { auth: 'operator', tags: ['Dead letters'] } as const;
const params = z.object({
  id: z.string().min(1).meta({ description: 'Id of the letter.', example: '0198c5a4-7c1e-7000-8000-000000000001' }),
});

export const listDeadLetters = route({
  ...letters,
  id: 'listDeadLetters',
  method: 'get',
  path: '/api/dead-letters',
  summary: 'List unresolved dead letters',
  description: 'Newest first. A limit or offset that is no number counts as not given.',
  query: z.object(pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'default' })),
  replies: { 200: { description: 'One page.', body: CachedPage(DeadLetter) } },
});

// Before the routes with {id}: the first match wins.
export const resolveAllDeadLetters = route({
  ...letters,
  ...withReason,
  id: 'resolveAllDeadLetters',
  method: 'post',
  path: '/api/dead-letters/resolve-all',
  summary: 'Resolve every dead letter',
  description: 'Retries no transition. One that fails does not stop the others; it is named in `failed`.',
  replies: {
    200: {
      description: 'All were attempted.',
      body: z.object({
        ok: z.literal(true),
        resolved: z.int().nonnegative().meta({ description: 'How many were attempted.' }),
        failed: z.array(z.string()).meta({ description: 'Ids of those that could not be resolved.' }),
      }),
    },
  },
});

export const retryDeadLetter = route({
  ...letters,
  ...withReason,
  id: 'retryDeadLetter',
  method: 'post',
  path: '/api/dead-letters/{id}/retry',
  summary: 'Attempt the transition again',
  description: 'On success the letter is resolved and the new state is told.',
  params,
  replies: {
    200: { description: 'Attempted.', body: z.object({ ok: z.literal(true), newState: z.string().optional() }) },
  },
  errors: ['DEAD_LETTER_NOT_FOUND'],
  refusals: { params: { code: 'DEAD_LETTER_NOT_FOUND' } },
});

export const resolveDeadLetter = route({
  ...letters,
  ...withReason,
  id: 'resolveDeadLetter',
  method: 'post',
  path: '/api/dead-letters/{id}/resolve',
  summary: 'Resolve one dead letter',
  description: 'Retries no transition. An unknown id is answered alike, so that repeating is safe.',
  params,
  replies: { 200: { description: 'Resolved.', body: Ok } },
});

export const deadLetterRoutes = [listDeadLetters, resolveAllDeadLetters, retryDeadLetter, resolveDeadLetter] as const;
