import { z } from 'zod';
import { anyIssueParams } from '../issues/address.ts';
import { tenantQuery } from '../repos/query.ts';
import { Timestamp, UnpaginatedResponse } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** interface: Artefact. */
export const Artefact = z
  .object({
    id: z.int(),
    runId: z.int(),
    issueId: z.int().nullable().meta({ description: 'Internal number of the issue; null for work on a whole repo.' }),
    kind: z.string(),
    mediaType: z.string(),
    title: z.string(),
    body: z.string(),
    createdAt: Timestamp,
  })
  .meta({ id: 'Artefact', description: 'What a run left to be read.' });

const Artefacts = UnpaginatedResponse(Artefact).extend({
  truncated: z.boolean().meta({ description: 'Older ones were left out: all together weigh more than 32 MiB.' }),
});

const artefacts = { method: 'get', auth: 'operator', tags: ['Issues'] } as const;

export const issueArtefacts = route({
  ...artefacts,
  id: 'issueArtefacts',
  path: '/api/issues/{owner}/{repo}/{issue}/artefacts',
  summary: 'Read what the runs of an issue left',
  description: 'Of all its runs, oldest first. An unknown issue has none.',
  params: anyIssueParams,
  query: tenantQuery,
  replies: { 200: { description: 'All of them.', body: Artefacts } },
  refusals: { params: { code: 'INVALID_ISSUE_NUMBER', message: 'Invalid issue number' } },
});

export const runArtefacts = route({
  ...artefacts,
  id: 'runArtefacts',
  path: '/api/runs/{runId}/artefacts',
  summary: 'Read what one run left',
  description: 'Oldest first. An unknown run has none.',
  params: z.object({
    runId: z
      .string()
      .regex(/^\d{1,15}$/)
      .meta({ description: 'Number of the run.', example: '12' }),
  }),
  replies: { 200: { description: 'All of them.', body: Artefacts } },
  refusals: { params: { code: 'INVALID_INPUT', message: 'runId must be a whole number' } },
});

export const artefactRoutes = [issueArtefacts, runArtefacts] as const;
