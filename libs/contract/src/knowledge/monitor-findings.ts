import { FINDING_STATUSES, FindingEvidence, SEVERITIES } from '@pipeline/domain';
import { z } from 'zod';
import { anyIssueParams } from '../issues/address.ts';
import { repoQuery, tenant } from '../repos/query.ts';
import { keptText, PaginatedResponse, Reason, Timestamp } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';

/** interface: Agent finding. */
export const AgentFinding = z
  .object({
    id: z.string(),
    tenantId: z.int(),
    repoId: z.int(),
    issueId: z.int().nullable(),
    issueNumber: z.int().nullable(),
    prId: z.int().nullable(),
    prNumber: z.int().nullable(),
    agentName: z.string(),
    taskId: z.string().nullable(),
    findingType: z.string(),
    category: z.string(),
    severity: z.enum(SEVERITIES),
    confidence: z.number().min(0).max(1).nullable(),
    title: z.string(),
    summary: z.string(),
    recommendation: z.string().nullable(),
    evidence: z.array(FindingEvidence),
    metadata: z.record(z.string(), z.unknown()),
    blocksProgress: z.boolean(),
    status: z.enum(FINDING_STATUSES),
    resolvedByIssueId: z.int().nullable(),
    resolvedAt: Timestamp.nullable(),
    dismissedReason: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'AgentFinding', description: 'An observation that an agent reported.' });

/** Fields of a finding in the list of one issue (interface: Agent finding). */
const IssueFinding = AgentFinding.pick({
  id: true,
  agentName: true,
  taskId: true,
  findingType: true,
  category: true,
  severity: true,
  confidence: true,
  title: true,
  summary: true,
  recommendation: true,
  evidence: true,
  blocksProgress: true,
  status: true,
  issueNumber: true,
  createdAt: true,
  updatedAt: true,
}).meta({ id: 'IssueFinding', description: 'An observation that an agent reported while working on an issue.' });

const findings = { auth: 'operator', tags: ['Findings'] } as const;
const page = pageQuery({ limit: { default: 100, max: 200 }, notANumber: 'refuse' });

const listIssueFindings = route({
  ...findings,
  id: 'listIssueFindings',
  method: 'get',
  path: '/api/issues/{owner}/{repo}/{issue}/findings',
  summary: 'List findings of an issue',
  description:
    'Newest first, including findings first reported for another issue. An unknown issue returns an empty list.',
  params: anyIssueParams,
  query: z.object({ ...page, tenant }),
  replies: {
    200: { description: 'One page of findings. `page.total` is null.', body: PaginatedResponse(IssueFinding) },
  },
  refusals: { params: { code: 'INVALID_ISSUE_NUMBER' } },
});

const listFindings = route({
  ...findings,
  id: 'listFindings',
  method: 'get',
  path: '/api/findings',
  summary: 'List findings of a repo',
  description: 'Newest first. Repeated reports of the same observation are one finding.',
  query: z.object({
    ...repoQuery,
    status: z
      .enum(FINDING_STATUSES)
      .optional()
      .meta({ description: 'Returns only findings with this status.', example: 'open' }),
    category: keptText(100)
      .optional()
      .meta({ description: 'Returns only findings of this category.', example: 'tests' }),
    severity: z
      .enum(SEVERITIES)
      .optional()
      .meta({ description: 'Returns only findings of this severity.', example: 'high' }),
    ...page,
  }),
  replies: { 200: { description: 'One page of findings.', body: PaginatedResponse(AgentFinding) } },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo' }],
});

const IssueNumber = z.int().positive().max(2_147_483_647);

/** Settings shared by all status changes. */
const move = {
  ...findings,
  method: 'post',
  params: z.object({
    id: z.string().min(1).meta({ description: 'Finding id.', example: '0198c5a4-7c1e-7000-8000-000000000001' }),
  }),
  body: z.object({
    reason: Reason.optional(),
    issueNumber: IssueNumber.optional().meta({
      description:
        'Number of an issue in the same repo that fixes the finding. The finding is resolved when that issue is done.',
    }),
  }),
  bodyOptional: true,
  replies: {
    200: { description: 'The updated finding.', body: z.object({ ok: z.literal(true), finding: AgentFinding }) },
  },
  errors: [
    { code: 'NOT_FOUND', description: 'Unknown finding' },
    { code: 'INVALID_TRANSITION', status: 400, description: 'The current status does not allow this action' },
    { code: 'ISSUE_NOT_FOUND', description: 'The repo of the finding has no issue with this number' },
    { code: 'INVALID_INPUT', description: 'The given issue is already done' },
  ],
} as const;

const acceptFinding = route({
  ...move,
  id: 'acceptFinding',
  path: '/api/findings/{id}/accept',
  summary: 'Accept a finding',
  description: 'Confirms the finding. A merge blocked by it stays blocked.',
});

const resolveFinding = route({
  ...move,
  id: 'resolveFinding',
  path: '/api/findings/{id}/resolve',
  summary: 'Resolve a finding',
  description: 'Marks the finding as fixed. If it is reported again, it reopens.',
});

const dismissFinding = route({
  ...move,
  id: 'dismissFinding',
  path: '/api/findings/{id}/dismiss',
  summary: 'Dismiss a finding',
  description: 'Marks the finding as not actionable. If it is reported again, it stays dismissed.',
});

const reopenFinding = route({
  ...move,
  id: 'reopenFinding',
  path: '/api/findings/{id}/reopen',
  summary: 'Reopen a finding',
  description: 'Reopens a resolved or dismissed finding.',
});

export const findingRoutes = [
  listIssueFindings,
  listFindings,
  acceptFinding,
  resolveFinding,
  dismissFinding,
  reopenFinding,
] as const;
