import { CONSISTENCY_KINDS, type ConsistencyFinding as DomainFinding } from '@pipeline/domain';
import { z } from 'zod';
import { CachedPage, withReason } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';

/** interface: Consistency finding. */
export const ConsistencyFinding = z
  .object({
    id: z.string().meta({ description: 'Stable: `kind:owner/repo#N`, and `@tenant` where several have the repo.' }),
    kind: z.enum(CONSISTENCY_KINDS),
    repoOwner: z.string(),
    repoName: z.string(),
    issueNumber: z.int().nullable(),
    detail: z.record(z.string(), z.unknown()).meta({ description: 'Depends on the kind.' }),
  })
  .meta({ id: 'ConsistencyFinding', description: 'Two records that should agree and do not.' });

const wire: (finding: DomainFinding) => z.input<typeof ConsistencyFinding> = (finding) => finding;
void wire;

const consistency = { auth: 'operator', tags: ['Consistency'] } as const;

export const listConsistencyFindings = route({
  ...consistency,
  id: 'listConsistencyFindings',
  method: 'get',
  path: '/api/consistency',
  summary: 'List what contradicts itself',
  description: 'As of the last look, by kind, repo and issue. A limit or offset that is no number counts as not given.',
  query: z.object(pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'default' })),
  replies: { 200: { description: 'One page.', body: CachedPage(ConsistencyFinding) } },
});

/** What all repairs have in common: each mends one kind, and may be repeated. */
const repair = {
  ...consistency,
  ...withReason,
  method: 'post',
  params: z.object({
    id: z
      .string()
      .min(1)
      .max(1_000)
      .meta({ description: 'Id of the finding, percent-encoded.', example: 'stale_blocked:octo/shop#7' }),
  }),
  replies: {
    200: {
      description: 'The finding as it is now; null when it is gone, or was.',
      body: z.object({ ok: z.literal(true), finding: ConsistencyFinding.nullable() }),
    },
  },
  errors: [
    'CONSISTENCY_FINDING_NOT_FOUND',
    { code: 'INVALID_ARGUMENT', status: 422, description: 'The finding has no issue number.' },
  ],
  refusals: { params: { code: 'CONSISTENCY_FINDING_NOT_FOUND' } },
} as const;

export const clearFlag = route({
  ...repair,
  id: 'clearFlag',
  path: '/api/consistency/{id}/clear-flag',
  summary: 'Clear a stale blocked flag',
  description: 'Mends stale_blocked. An issue that stands in a blocked state is unblocked; else only the flag goes.',
});

export const resolveSubtaskEdges = route({
  ...repair,
  id: 'resolveSubtaskEdges',
  path: '/api/consistency/{id}/resolve-subtask-edges',
  summary: 'Resolve the subtask edges of a finished epic',
  description: 'Mends stale_subtask_edge. Every active one is marked as resolved.',
});

export const enqueueOrphan = route({
  ...repair,
  id: 'enqueueOrphan',
  path: '/api/consistency/{id}/enqueue-orphan',
  summary: 'Ask for the intake of an unknown issue',
  description: 'Mends orphan_missing_from_pg. The host is to label it svc:enqueue; the outbox does it, intake follows.',
});

export const linkSi = route({
  ...repair,
  id: 'linkSi',
  path: '/api/consistency/{id}/link-si',
  summary: 'Mark a self-improvement issue as completed',
  description: 'Mends si_linkage_gap.',
});

export const deleteOrphanEdges = route({
  ...repair,
  id: 'deleteOrphanEdges',
  path: '/api/consistency/{id}/delete-orphan-edges',
  summary: 'Delete edges without a record',
  description: 'Mends orphan_dependency_edge. Every edge in orphanEdgeIds is deleted, not marked as resolved.',
});

export const consistencyRoutes = [
  listConsistencyFindings,
  clearFlag,
  resolveSubtaskEdges,
  enqueueOrphan,
  linkSi,
  deleteOrphanEdges,
] as const;
