import { isStorable, MAX_INTEGER, MAX_PLAN, PLAN_STATUSES, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { tenantQuery } from '../repos/query.ts';
import { PaginatedResponse, REASON_REFUSAL, Reason, RequiredReason, Timestamp } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { issueParams } from './address.ts';

const version = z.int().min(1).max(MAX_INTEGER).meta({ description: 'Version of the plan, from 1.', example: 1 });

const PlanVersion = z
  .object({
    version,
    editsVersion: z.int().nullable().meta({ description: 'The version that a person edited. Null = by an agent.' }),
    authorType: z.enum(['agent', 'operator']),
    author: z.string(),
    body: z.string().meta({ description: 'The plan, Markdown.' }),
    plannedFiles: z.array(z.string()),
    status: z.enum(PLAN_STATUSES).meta({
      description: 'pending = waits for an answer; withdrawn = the issue moved on, or a newer version replaced it.',
    }),
    answeredBy: z.string().nullable(),
    answeredAt: Timestamp.nullable(),
    reason: z.string().nullable(),
    createdAt: Timestamp,
  })
  .meta({ id: 'PlanVersion', description: 'One version of a plan that needs the approval of a person.' });

const onIssue = {
  auth: 'operator',
  params: issueParams,
  query: tenantQuery,
  errors: ['ISSUE_NOT_FOUND', { code: 'NOT_FOUND', description: 'Unknown repo or malformed path' }],
} as const;
const answer = {
  ...onIssue,
  method: 'post',
  tags: ['Issue actions'],
  errors: [
    ...onIssue.errors,
    {
      code: 'INVALID_TRANSITION',
      status: 409,
      description: 'This version does not wait for an answer: it was answered, or a newer one replaced it',
    },
  ],
  replies: {
    200: {
      description: 'Answered.',
      body: z.object({
        ok: z.literal(true),
        version: version.meta({ description: 'The answered version; of an edited plan, the new one.' }),
        state: z.enum(STATES).meta({ description: 'Current state of the issue.' }),
      }),
    },
  },
} as const;
const refusals = {
  params: { code: 'NOT_FOUND', message: 'Not found' },
  body: { code: 'INVALID_ARGUMENT', message: 'version must be a whole number from 1' },
  fields: {
    version: { code: 'INVALID_ARGUMENT', message: 'version must be a whole number from 1' },
    text: { code: 'INVALID_ARGUMENT', message: `text must not be blank and have at most ${MAX_PLAN} characters` },
    plannedFiles: { code: 'INVALID_ARGUMENT', message: 'plannedFiles must be at most 1000 paths' },
    reason: REASON_REFUSAL,
  },
} as const;

const planText = z
  .string()
  .max(MAX_PLAN)
  .refine((text) => text.trim() !== '' && isStorable(text), 'must not be blank');
const path = z.string().min(1).max(1_000).refine(isStorable, 'must not contain NUL or unpaired surrogates');

const listPlans = route({
  ...onIssue,
  id: 'listPlans',
  method: 'get',
  tags: ['Issues'],
  path: '/api/issues/{owner}/{repo}/{issue}/plans',
  summary: 'List versions of the plan of an issue',
  description:
    'Returns the versions that needed the approval of a person and their answers, newest first; empty where the workflow of the repo requires no approval. `page.total` is null.',
  query: tenantQuery.extend(pageQuery({ limit: { default: 10, max: 20 }, notANumber: 'refuse' })),
  replies: { 200: { description: 'One page of versions.', body: PaginatedResponse(PlanVersion) } },
  refusals: { params: refusals.params },
});

export const approvePlan = route({
  ...answer,
  id: 'approvePlan',
  path: '/api/issues/{owner}/{repo}/{issue}/plan/approve',
  summary: 'Approve the plan of an issue',
  description:
    'Approves one version of the plan; development begins with it. With `text`, the edited text becomes a new version of the operator, which is approved instead; the version of the agent is kept. An issue with open dependencies waits for them first.',
  body: z.object({
    version,
    text: planText.optional().meta({ description: `The edited plan, at most ${MAX_PLAN} characters.` }),
    plannedFiles: z
      .array(path)
      .max(1_000)
      .optional()
      .meta({ description: 'Files of the edited plan. Default: those of the edited version.' }),
    reason: Reason.optional(),
  }),
  refusals,
});

export const rejectPlan = route({
  ...answer,
  id: 'rejectPlan',
  path: '/api/issues/{owner}/{repo}/{issue}/plan/reject',
  summary: 'Reject the plan of an issue',
  description:
    'Rejects one version of the plan and returns the issue to planning. The next planning task receives the rejected plan and the reasons of all rejections since the last approval.',
  body: z.object({ version, reason: RequiredReason }),
  refusals: { ...refusals, fields: { version: refusals.fields.version, reason: REASON_REFUSAL } },
});

export const planRoutes = [listPlans, approvePlan, rejectPlan] as const;
