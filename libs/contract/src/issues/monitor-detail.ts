import { ERROR_CLASSES, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { tenantQuery } from '../repos/query.ts';
import { PaginatedResponse, Timestamp } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { type DeclaredError, route } from '../wire/route.ts';
import { SinceInput } from '../wire/timestamp-input.ts';
import { anyIssueParams, issueParams } from './address.ts';
import { IssueWhy } from './why.ts';

const count = z.int().nonnegative();

/** interface: Issue diagnostic (digest). */
const IssueDiagnostic = z
  .object({
    issue: z
      .object({
        issueNumber: z.int(),
        title: z.string(),
        state: z.enum(STATES),
        isBlocked: z.boolean(),
        isPaused: z.boolean(),
        blockReason: z.string().nullable(),
        blockedFromState: z.enum(STATES).nullable(),
        stateEnteredAt: Timestamp.nullable(),
      })
      .nullable()
      .meta({ description: 'Null when the pipeline has no record of the issue.' }),
    blockClassification: z.enum(ERROR_CLASSES).nullable().meta({ description: 'Null when the issue is not blocked.' }),
    autoUnblockCount: count.meta({ description: 'Number of automatic unblocks.' }),
    maxAutoUnblocks: count.meta({ description: 'Maximum number of automatic unblocks.' }),
    recentFailedRuns: z
      .array(
        z.object({
          agentName: z.string(),
          errorMessage: z.string().nullable(),
          finishedAt: Timestamp.nullable(),
        }),
      )
      .meta({ description: 'Failed runs, newest first; at most 10.' }),
    activeTasks: z.array(
      z.object({
        taskType: z.enum(TASK_TYPES),
        status: z.enum(['pending', 'claimed']),
        claimedBy: z.string().nullable(),
      }),
    ),
    recommendations: z.array(z.string()).meta({ description: 'Suggested actions.' }),
  })
  .meta({ id: 'IssueDiagnostic', description: 'Diagnosis of an issue with suggested actions.' });

/** interface: Issue status. */
const IssueStatus = z
  .object({
    currentStatus: z.string().nullable().meta({ description: 'Latest status message of an agent.' }),
    state: z.enum(STATES),
    stateEnteredAt: Timestamp.nullable(),
    lastEventAt: Timestamp.nullable(),
  })
  .meta({ id: 'IssueStatus' });

/** interface: Issue event. */
const IssueEvent = z
  .object({
    id: z.int(),
    issueId: z.int().meta({ description: 'Internal issue id, not the issue number on the host.' }),
    actorType: z.enum(['agent', 'workflow-engine', 'operator', 'system']),
    actorId: z.string().nullable(),
    status: z.string(),
    details: z.record(z.string(), z.unknown()).nullable(),
    state: z.string(),
    createdAt: Timestamp.meta({
      description: 'Timestamp with microseconds, strictly increasing within an issue.',
      example: '2026-01-02T03:04:05.678901Z',
    }),
  })
  .meta({ id: 'IssueEvent' });

const notes = z.record(z.string(), z.unknown()).nullable();

/** interface: the retrospective of an issue. */
const Retrospective = z
  .object({
    id: z.uuid(),
    issueNumber: z.int(),
    status: z.string(),
    outcomeClassification: z.string().nullable(),
    summary: z.string(),
    plannedFiles: notes,
    actualFiles: notes,
    failures: notes,
    lessons: notes,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Retrospective', description: 'Retrospective of a completed issue.' });

const ofIssue = { method: 'get', auth: 'operator', tags: ['Issues'], query: tenantQuery } as const;
const noRepo: DeclaredError = { code: 'NOT_FOUND', description: 'Unknown repo or malformed path' };
const refusals = { params: { code: 'NOT_FOUND', message: 'Not found' } } as const;

const explainIssueTo = route({
  ...ofIssue,
  id: 'explainIssueTo',
  path: '/api/issues/{owner}/{repo}/{issue}/why',
  summary: 'Explain why an issue is in its state',
  description:
    'Returns a one-sentence explanation, what the issue waits for, its recent transitions, its last error and suggested actions.',
  params: issueParams,
  replies: { 200: { description: 'The explanation.', body: IssueWhy } },
  errors: ['ISSUE_NOT_FOUND', noRepo],
  refusals,
});

const diagnoseIssue = route({
  ...ofIssue,
  id: 'diagnoseIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/digest',
  summary: 'Diagnose an issue',
  description: 'Returns the block, recent failed runs, active tasks and suggested actions of an issue.',
  params: issueParams,
  replies: { 200: { description: 'The diagnosis.', body: IssueDiagnostic } },
  errors: [noRepo],
  refusals,
});

const issueStatus = route({
  ...ofIssue,
  id: 'issueStatus',
  path: '/api/issues/{owner}/{repo}/{issue}/status',
  summary: 'Get the status of an issue',
  description: 'Returns the state and the latest agent status message.',
  params: issueParams,
  replies: { 200: { description: 'Issue status.', body: IssueStatus } },
  errors: [{ code: 'NOT_FOUND', description: 'Issue not in the pipeline, or malformed path' }],
  refusals,
});

const issueEvents = route({
  ...ofIssue,
  id: 'issueEvents',
  path: '/api/issues/{owner}/{repo}/{issue}/events',
  summary: 'List events of an issue',
  description: 'Newest first. `page.total` is null because events are not counted.',
  params: issueParams,
  query: tenantQuery.extend({
    since: SinceInput.optional().meta({
      description:
        'Returns only events after this time: a timestamp (UTC without a zone) or a duration before now, such as 1h. Compared with microsecond precision; to poll, pass the latest `createdAt` unchanged.',
      example: '2026-01-02T03:04:05.678901Z',
    }),
    ...pageQuery({ limit: { default: 50, max: 200 }, notANumber: 'refuse' }),
  }),
  replies: { 200: { description: 'One page of events.', body: PaginatedResponse(IssueEvent) } },
  errors: [{ code: 'NOT_FOUND', description: 'Issue not in the pipeline, or malformed path' }],
  refusals,
});

const issueRetrospective = route({
  ...ofIssue,
  id: 'issueRetrospective',
  path: '/api/issues/{owner}/{repo}/{issue}/retrospective',
  summary: 'Get the retrospective of an issue',
  description: 'Returns the latest retrospective, or null. An unknown issue has none.',
  params: anyIssueParams,
  replies: {
    200: {
      description: 'The retrospective, or null.',
      body: z.object({ retrospective: Retrospective.nullable() }),
    },
  },
  refusals: { params: { code: 'INVALID_ISSUE_NUMBER', message: 'Invalid issue number' } },
});

export const issueDetailRoutes = [explainIssueTo, diagnoseIssue, issueStatus, issueEvents, issueRetrospective] as const;
