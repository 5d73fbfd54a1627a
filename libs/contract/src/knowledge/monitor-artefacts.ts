import { z } from 'zod';
import { anyIssueParams } from '../issues/address.ts';
import { tenantQuery } from '../repos/query.ts';
import { Timestamp, UnpaginatedResponse } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** interface: Artefact. */
const Artefact = z
  .object({
    id: z.int(),
    runId: z.int(),
    issueId: z.int().nullable().meta({ description: 'Internal issue id. Null for repo-level work.' }),
    kind: z.string(),
    mediaType: z.string(),
    title: z.string(),
    body: z.string(),
    createdAt: Timestamp,
  })
  .meta({ id: 'Artefact', description: 'A document produced by a run.' });

const Artefacts = UnpaginatedResponse(Artefact).extend({
  truncated: z
    .boolean()
    .meta({ description: 'True when older artefacts were omitted because the total size exceeds 32 MiB.' }),
});

const artefacts = { method: 'get', auth: 'operator', tags: ['Issues'] } as const;

const issueArtefacts = route({
  ...artefacts,
  id: 'issueArtefacts',
  path: '/api/issues/{owner}/{repo}/{issue}/artefacts',
  summary: 'List artefacts of an issue',
  description: 'Returns the artefacts of all runs, oldest first. An unknown issue returns an empty list.',
  params: anyIssueParams,
  query: tenantQuery,
  replies: { 200: { description: 'All artefacts.', body: Artefacts } },
  refusals: { params: { code: 'INVALID_ISSUE_NUMBER', message: 'Invalid issue number' } },
});

const runArtefacts = route({
  ...artefacts,
  id: 'runArtefacts',
  path: '/api/runs/{runId}/artefacts',
  summary: 'List artefacts of a run',
  description: 'Oldest first. An unknown run returns an empty list.',
  params: z.object({
    runId: z
      .string()
      .regex(/^\d{1,15}$/)
      .meta({ description: 'Run id.', example: '12' }),
  }),
  replies: { 200: { description: 'All artefacts.', body: Artefacts } },
  refusals: { params: { code: 'INVALID_INPUT', message: 'runId must be a whole number' } },
});

export const artefactRoutes = [issueArtefacts, runArtefacts] as const;
