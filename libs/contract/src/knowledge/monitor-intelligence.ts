import {
  INTELLIGENCE_EVIDENCE_TYPES,
  INTELLIGENCE_KINDS,
  INTELLIGENCE_SCOPE_KINDS,
  INTELLIGENCE_STATUSES,
} from '@pipeline/domain';
import { z } from 'zod';
import { repoQuery } from '../repos/query.ts';
import {
  keptText,
  PaginatedResponse,
  REASON_REFUSAL,
  Reason,
  RequiredReason,
  Timestamp,
  withReason,
} from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { RetrievalQuery, RetrievalResult } from './retrieval.ts';

const ratio = z.number().min(0).max(1).nullable();
const time = Timestamp.nullable();
const text = z.string().nullable();
const notes = z.record(z.string(), z.unknown());

/** interface: Intelligence item. */
const IntelligenceItem = z
  .object({
    id: z.string(),
    tenantId: z.int(),
    repoId: z.int(),
    kind: z.enum(INTELLIGENCE_KINDS),
    title: z.string(),
    summary: z.string(),
    details: text,
    status: z.enum(INTELLIGENCE_STATUSES),
    confidence: ratio,
    qualityScore: ratio,
    source: z.string(),
    sourceAgent: text,
    sourceIssueId: z.int().nullable(),
    sourcePrId: z.int().nullable(),
    sourceFindingId: text,
    sourceRetrospectiveId: text,
    metadata: notes,
    tags: z.array(z.string()).nullable(),
    firstObservedAt: Timestamp,
    lastObservedAt: Timestamp,
    observationCount: z.int().positive(),
    approvedAt: time,
    approvedBy: text,
    dismissedAt: time,
    dismissedReason: text,
    supersededBy: text,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'IntelligenceItem', description: 'A piece of knowledge about a repo.' });

/** interface: Intelligence scope. */
const IntelligenceScope = z
  .object({
    id: z.string(),
    itemId: z.string(),
    scopeKind: z.enum(INTELLIGENCE_SCOPE_KINDS),
    scopeRef: z.string(),
    metadata: notes.nullable(),
    createdAt: Timestamp,
  })
  .meta({ id: 'IntelligenceScope', description: 'Scope that an item applies to.' });

/** interface: Intelligence evidence. */
const IntelligenceEvidence = z
  .object({
    id: z.string(),
    itemId: z.string(),
    evidenceType: z.enum(INTELLIGENCE_EVIDENCE_TYPES),
    ref: text,
    path: text,
    url: text,
    excerpt: text,
    metadata: notes.nullable(),
    createdAt: Timestamp,
  })
  .meta({ id: 'IntelligenceEvidence', description: 'Evidence that supports an item.' });

const IntelligenceItemDetail = IntelligenceItem.extend({
  scopes: z.array(IntelligenceScope),
  evidence: z.array(IntelligenceEvidence).meta({ description: 'Newest first; at most 200.' }),
}).meta({ id: 'IntelligenceItemDetail', description: 'An item with its scopes and evidence.' });

const intelligence = { auth: 'operator', tags: ['Intelligence'] } as const;
const unknownRepo = { code: 'NOT_FOUND', description: 'Unknown repo' } as const;
const unknownItem = { code: 'NOT_FOUND', description: 'Unknown item' } as const;

// Declared before the route with {id}: the first match wins.
const retrieveIntelligence = route({
  ...intelligence,
  id: 'retrieveIntelligence',
  method: 'get',
  path: '/api/intelligence/retrieve',
  summary: 'Debug a retrieval',
  description:
    'Returns the items and files that an agent would receive for an issue within its token budget, why each was selected, and what was omitted. Read-only.',
  query: RetrievalQuery.extend(repoQuery),
  replies: { 200: { description: 'Retrieval result.', body: RetrievalResult } },
  errors: [unknownRepo],
});

const Confidence = z
  .string()
  .regex(/^(?:[01]|0?\.\d{1,17}|1\.0{1,17})$/, 'must be a number from 0 to 1')
  .transform(Number);

const listIntelligence = route({
  ...intelligence,
  id: 'listIntelligence',
  method: 'get',
  path: '/api/intelligence',
  summary: 'List intelligence items of a repo',
  description: 'Most recently observed first, without scopes and evidence.',
  query: z.object({
    ...repoQuery,
    kind: z
      .enum(INTELLIGENCE_KINDS)
      .optional()
      .meta({ description: 'Returns only items of this kind.', example: 'invariant' }),
    status: z
      .enum(INTELLIGENCE_STATUSES)
      .optional()
      .meta({ description: 'Returns only items with this status.', example: 'proposed' }),
    scope_kind: z
      .enum(INTELLIGENCE_SCOPE_KINDS)
      .optional()
      .meta({ description: 'Returns only items with a scope of this kind.', example: 'file' }),
    scope_ref: keptText(500)
      .optional()
      .meta({ description: 'Returns only items with this scope reference.', example: 'src/refunds.ts' }),
    tag: keptText(50).optional().meta({ description: 'Returns only items with this tag.', example: 'ledger' }),
    source: keptText(100)
      .optional()
      .meta({ description: 'Returns only items from this source.', example: 'retrospective' }),
    min_confidence: Confidence.optional().meta({ description: 'Minimum confidence, 0 to 1.', example: '0.7' }),
    ...pageQuery({ limit: { default: 200, max: 500 }, notANumber: 'refuse' }),
  }),
  replies: { 200: { description: 'One page of items.', body: PaginatedResponse(IntelligenceItem) } },
  errors: [unknownRepo],
});

const params = z.object({
  id: z
    .string()
    .regex(/\S/, 'must not be empty')
    .meta({ description: 'Item id.', example: '0198c5a4-7c1e-7000-8000-000000000001' }),
});
const refusals = { params: { code: 'INVALID_INPUT' } } as const;

const getIntelligence = route({
  ...intelligence,
  id: 'getIntelligence',
  method: 'get',
  path: '/api/intelligence/{id}',
  summary: 'Get an intelligence item',
  description: 'Returns the item with its scopes and evidence.',
  params,
  replies: { 200: { description: 'The item.', body: z.object({ item: IntelligenceItemDetail }) } },
  errors: [unknownItem],
  refusals,
});

/** Settings shared by all status changes. */
const move = {
  ...intelligence,
  method: 'post',
  params,
  replies: {
    200: {
      description: 'The updated item.',
      body: z.object({ ok: z.literal(true), item: IntelligenceItemDetail }),
    },
  },
  errors: [
    unknownItem,
    { code: 'INVALID_TRANSITION', status: 400, description: 'The current status does not allow this action' },
  ],
} as const;

const approveIntelligence = route({
  ...move,
  ...withReason,
  id: 'approveIntelligence',
  path: '/api/intelligence/{id}/approve',
  summary: 'Approve an intelligence item',
  description: 'Approves a proposed item. Retrieval ranks approved items before others.',
  refusals,
});

const dismissIntelligence = route({
  ...move,
  id: 'dismissIntelligence',
  path: '/api/intelligence/{id}/dismiss',
  summary: 'Dismiss an intelligence item',
  description:
    'Marks the item as wrong or useless and excludes it from retrieval. If it is observed again, it stays dismissed.',
  body: z.object({ reason: RequiredReason }),
  refusals: { ...refusals, fields: { reason: REASON_REFUSAL } },
});

const supersedeIntelligence = route({
  ...move,
  id: 'supersedeIntelligence',
  path: '/api/intelligence/{id}/supersede',
  summary: 'Supersede an intelligence item',
  description: 'Replaces an approved item by another item of the same repo.',
  body: z.object({
    supersededBy: z.uuid('must be the id of another item of the same repo'),
    reason: Reason.optional(),
  }),
  errors: [...move.errors, { code: 'INVALID_INPUT', description: 'The other item cannot replace this item' }],
  refusals,
});

export const intelligenceRoutes = [
  retrieveIntelligence,
  listIntelligence,
  getIntelligence,
  approveIntelligence,
  dismissIntelligence,
  supersedeIntelligence,
] as const;
