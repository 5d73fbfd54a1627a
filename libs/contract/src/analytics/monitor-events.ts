import { PAGE_RULES } from '@pipeline/domain';
import { z } from 'zod';
import { PaginatedResponse, Timestamp } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { integerText } from '../wire/parameter-texts.ts';
import { route } from '../wire/route.ts';
import { analytics, whose } from './query.ts';

const MAX_INTEGER = 2_147_483_647;

/** interface: Pipeline event. */
const PipelineEvent = z
  .object({
    id: z.int(),
    repoOwner: z.string(),
    repoName: z.string(),
    issueNumber: z.int().nullable().meta({ description: 'Null for repo-level events.' }),
    eventType: z.string(),
    agent: z.string(),
    payload: z.record(z.string(), z.unknown()),
    createdAt: Timestamp,
  })
  .meta({ id: 'PipelineEvent', description: 'An event in the pipeline.' });

export const listPipelineEvents = route({
  ...analytics,
  id: 'listPipelineEvents',
  path: '/api/pipeline-events',
  summary: 'List pipeline events',
  description: 'Newest first. An invalid limit or offset falls back to its default.',
  query: z.object({
    repo: whose.repo,
    tenant: whose.tenant,
    issue: integerText({ min: -MAX_INTEGER, max: MAX_INTEGER }, 'must be an integer of 32 bits')
      .transform(Number)
      .optional()
      .meta({ description: 'Returns only events of the issue with this number.', example: '7' }),
    type: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Returns only events of this type.', example: 'operator_action' }),
    ...pageQuery({ limit: PAGE_RULES.pipelineEvents, notANumber: 'default' }),
  }),
  replies: {
    200: {
      description: 'One page of events. `page.total` counts all matching events.',
      body: PaginatedResponse(PipelineEvent),
    },
  },
});
