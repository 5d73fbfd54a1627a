import { FINDING_STATUSES, SEVERITIES } from '@pipeline/domain';
import { z } from 'zod';
import { anyIssueParams } from '../issues/address.ts';
import { repoQuery, tenant } from '../repos/query.ts';
import { keptText, PaginatedResponse, Reason } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { AgentFinding } from './finding.ts';

/** What the list of one issue shows of a finding (interface: Agent finding). */
export const IssueFinding = AgentFinding.pick({
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
}).meta({ id: 'IssueFinding', description: 'What an agent noticed while it worked on an issue.' });

const findings = { auth: 'operator', tags: ['Findings'] } as const;
const page = pageQuery({ limit: { default: 100, max: 200 }, notANumber: 'refuse' });

export const listIssueFindings = route({
  ...findings,
  id: 'listIssueFindings',
  method: 'get',
  path: '/api/issues/{owner}/{repo}/{issue}/findings',
  summary: 'List what agents noticed about an issue',
  description: 'Newest first, those included that another issue had met before. An unknown issue has none.',
  params: anyIssueParams,
  query: z.object({ ...page, tenant }),
  replies: { 200: { description: 'One page; its total is not counted.', body: PaginatedResponse(IssueFinding) } },
  refusals: { params: { code: 'INVALID_ISSUE_NUMBER' } },
});

export const listFindings = route({
  ...findings,
  id: 'listFindings',
  method: 'get',
  path: '/api/findings',
  summary: 'List what agents noticed in a repo',
  description: 'Newest first. What was found several times is one finding.',
  query: z.object({
    ...repoQuery,
    status: z.enum(FINDING_STATUSES).optional().meta({ description: 'Only of this status.', example: 'open' }),
    category: keptText(100).optional().meta({ description: 'Only of this category.', example: 'tests' }),
    severity: z.enum(SEVERITIES).optional().meta({ description: 'Only of this severity.', example: 'high' }),
    ...page,
  }),
  replies: { 200: { description: 'One page.', body: PaginatedResponse(AgentFinding) } },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo.' }],
});

const IssueNumber = z.int().positive().max(2_147_483_647);

/** What all moves share. */
const move = {
  ...findings,
  method: 'post',
  params: z.object({
    id: z.string().min(1).meta({ description: 'Id of the finding.', example: '0198c5a4-7c1e-7000-8000-000000000001' }),
  }),
  body: z.object({
    reason: Reason.optional(),
    issueNumber: IssueNumber.optional().meta({
      description: 'The issue of the same repo that is to settle it, or has: done, it resolves the finding.',
    }),
  }),
  bodyOptional: true,
  replies: {
    200: { description: 'The finding as it is now.', body: z.object({ ok: z.literal(true), finding: AgentFinding }) },
  },
  errors: [
    { code: 'NOT_FOUND', description: 'Unknown finding.' },
    { code: 'INVALID_TRANSITION', status: 400, description: 'Its status does not allow this.' },
    { code: 'ISSUE_NOT_FOUND', description: 'The repo of the finding has no such issue.' },
    { code: 'INVALID_INPUT', description: 'The issue that is to settle it is done already.' },
  ],
} as const;

export const acceptFinding = route({
  ...move,
  id: 'acceptFinding',
  path: '/api/findings/{id}/accept',
  summary: 'Accept a finding',
  description: 'It is true and something is to be done about it; a merge that it blocks stays blocked.',
});

export const resolveFinding = route({
  ...move,
  id: 'resolveFinding',
  path: '/api/findings/{id}/resolve',
  summary: 'Resolve a finding',
  description: 'It is mended. Found again, it opens again.',
});

export const dismissFinding = route({
  ...move,
  id: 'dismissFinding',
  path: '/api/findings/{id}/dismiss',
  summary: 'Dismiss a finding',
  description: 'Nothing is to be done about it. Found again, it stays dismissed.',
});

export const reopenFinding = route({
  ...move,
  id: 'reopenFinding',
  path: '/api/findings/{id}/reopen',
  summary: 'Reopen a finding',
  description: 'One that was resolved or dismissed is open again.',
});

export const findingRoutes = [
  listIssueFindings,
  listFindings,
  acceptFinding,
  resolveFinding,
  dismissFinding,
  reopenFinding,
] as const;
