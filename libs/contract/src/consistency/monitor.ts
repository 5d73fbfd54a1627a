import { CONSISTENCY_KINDS, type ConsistencyFinding as DomainFinding } from '@pipeline/domain';
import { z } from 'zod';
import { CachedPage, withReason } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';

/** interface: Consistency finding. */
const ConsistencyFinding = z
  .object({
    id: z.string().meta({
      description:
        'Stable id `kind:owner/repo#N`, followed by `@tenant` when several tenants have a repo with this name.',
    }),
    kind: z.enum(CONSISTENCY_KINDS),
    repoOwner: z.string(),
    repoName: z.string(),
    issueNumber: z.int().nullable(),
    detail: z.record(z.string(), z.unknown()).meta({ description: 'Details, specific to the kind.' }),
  })
  .meta({ id: 'ConsistencyFinding', description: 'Two records that contradict each other.' });

const wire: (finding: DomainFinding) => z.input<typeof ConsistencyFinding> = (finding) => finding;
void wire;

const consistency = { auth: 'operator', tags: ['Consistency'] } as const;

export const listConsistencyFindings = route({
  ...consistency,
  id: 'listConsistencyFindings',
  method: 'get',
  path: '/api/consistency',
  summary: 'List consistency findings',
  description:
    'Returns the findings of the latest scan, ordered by kind, repo and issue. An invalid limit or offset falls back to its default.',
  query: z.object(pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'default' })),
  replies: { 200: { description: 'One page of findings.', body: CachedPage(ConsistencyFinding) } },
});

/** Settings shared by all repairs. Each repairs one kind of finding and is idempotent. */
const repair = {
  ...consistency,
  ...withReason,
  method: 'post',
  params: z.object({
    id: z
      .string()
      .min(1)
      .max(1_000)
      .meta({ description: 'Finding id, percent-encoded.', example: 'stale_blocked:octo/shop#7' }),
  }),
  replies: {
    200: {
      description: 'The re-evaluated finding. Null when it is resolved.',
      body: z.object({ ok: z.literal(true), finding: ConsistencyFinding.nullable() }),
    },
  },
  errors: [
    'CONSISTENCY_FINDING_NOT_FOUND',
    { code: 'INVALID_ARGUMENT', status: 422, description: 'The finding has no issue number' },
  ],
  refusals: { params: { code: 'CONSISTENCY_FINDING_NOT_FOUND' } },
} as const;

export const clearFlag = route({
  ...repair,
  id: 'clearFlag',
  path: '/api/consistency/{id}/clear-flag',
  summary: 'Clear a stale blocked flag',
  description: 'Repairs `stale_blocked`. An issue in a blocked state is unblocked; otherwise only the flag is cleared.',
});

export const resolveSubtaskEdges = route({
  ...repair,
  id: 'resolveSubtaskEdges',
  path: '/api/consistency/{id}/resolve-subtask-edges',
  summary: 'Resolve the subtask edges of a finished epic',
  description: 'Repairs `stale_subtask_edge`. Marks every active subtask edge of the epic as resolved.',
});

const enqueueOrphan = route({
  ...repair,
  id: 'enqueueOrphan',
  path: '/api/consistency/{id}/enqueue-orphan',
  summary: 'Enqueue an issue that has no pipeline record',
  description:
    'Repairs `orphan_missing_from_pg`. Adds the label svc:enqueue on the host through the outbox; the intake then creates the record.',
});

const linkSi = route({
  ...repair,
  id: 'linkSi',
  path: '/api/consistency/{id}/link-si',
  summary: 'Mark a self-improvement issue as completed',
  description: 'Repairs `si_linkage_gap`. Marks the self-improvement issue as completed.',
});

export const deleteOrphanEdges = route({
  ...repair,
  id: 'deleteOrphanEdges',
  path: '/api/consistency/{id}/delete-orphan-edges',
  summary: 'Delete orphan dependency edges',
  description:
    'Repairs `orphan_dependency_edge`. Deletes every edge in `orphanEdgeIds` instead of marking it as resolved.',
});

export const consistencyRoutes = [
  listConsistencyFindings,
  clearFlag,
  resolveSubtaskEdges,
  enqueueOrphan,
  linkSi,
  deleteOrphanEdges,
] as const;
