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
export const IssueDiagnostic = z
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
      .meta({ description: 'Null when the pipeline has no record of it.' }),
    blockClassification: z.enum(ERROR_CLASSES).nullable().meta({ description: 'Null when it is not blocked.' }),
    autoUnblockCount: count.meta({ description: 'How often it was unblocked by itself.' }),
    maxAutoUnblocks: count.meta({ description: 'How often it may be.' }),
    recentFailedRuns: z
      .array(
        z.object({
          agentName: z.string(),
          errorMessage: z.string().nullable(),
          finishedAt: Timestamp.nullable(),
        }),
      )
      .meta({ description: 'Newest first, at most 10.' }),
    activeTasks: z.array(
      z.object({
        taskType: z.enum(TASK_TYPES),
        status: z.enum(['pending', 'claimed']),
        claimedBy: z.string().nullable(),
      }),
    ),
    recommendations: z.array(z.string()).meta({ description: 'What would bring it on.' }),
  })
  .meta({ id: 'IssueDiagnostic', description: 'What is wrong with an issue, and what would mend it.' });

/** interface: Issue status. */
export const IssueStatus = z
  .object({
    currentStatus: z.string().nullable().meta({ description: 'What an agent said last.' }),
    state: z.enum(STATES),
    stateEnteredAt: Timestamp.nullable(),
    lastEventAt: Timestamp.nullable(),
  })
  .meta({ id: 'IssueStatus' });

/** interface: Issue event. */
export const IssueEvent = z
  .object({
    id: z.int(),
    issueId: z.int().meta({ description: 'Internal number of the issue, not that of the host.' }),
    actorType: z.enum(['agent', 'workflow-engine', 'operator', 'system']),
    actorId: z.string().nullable(),
    status: z.string(),
    details: z.record(z.string(), z.unknown()).nullable(),
    state: z.string(),
    createdAt: Timestamp.meta({
      description: 'With microseconds. Later events of an issue have a later time.',
      example: '2026-01-02T03:04:05.678901Z',
    }),
  })
  .meta({ id: 'IssueEvent' });

const notes = z.record(z.string(), z.unknown()).nullable();

/** interface: the retrospective of an issue. */
export const Retrospective = z
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
  .meta({ id: 'Retrospective', description: 'A look back on an issue that is done.' });

const ofIssue = { method: 'get', auth: 'operator', tags: ['Issues'], query: tenantQuery } as const;
const noRepo: DeclaredError = { code: 'NOT_FOUND', description: 'Unknown repo, or a malformed path.' };
const refusals = { params: { code: 'NOT_FOUND', message: 'Not found' } } as const;

export const explainIssueTo = route({
  ...ofIssue,
  id: 'explainIssueTo',
  path: '/api/issues/{owner}/{repo}/{issue}/why',
  summary: 'Explain why an issue is where it is',
  description: 'In one sentence, and in detail: what it waits for, its last moves, its last error, what would help.',
  params: issueParams,
  replies: { 200: { description: 'Why.', body: IssueWhy } },
  errors: ['ISSUE_NOT_FOUND', noRepo],
  refusals,
});

export const diagnoseIssue = route({
  ...ofIssue,
  id: 'diagnoseIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/digest',
  summary: 'Diagnose an issue',
  description: 'What stops it, what failed lately, what is under way and what would help.',
  params: issueParams,
  replies: { 200: { description: 'The diagnosis.', body: IssueDiagnostic } },
  errors: [noRepo],
  refusals,
});

export const issueStatus = route({
  ...ofIssue,
  id: 'issueStatus',
  path: '/api/issues/{owner}/{repo}/{issue}/status',
  summary: 'Show what an issue is at',
  description: 'Its state and the last word of its agent.',
  params: issueParams,
  replies: { 200: { description: 'The status.', body: IssueStatus } },
  errors: [{ code: 'NOT_FOUND', description: 'Not in the pipeline, or a malformed path.' }],
  refusals,
});

export const issueEvents = route({
  ...ofIssue,
  id: 'issueEvents',
  path: '/api/issues/{owner}/{repo}/{issue}/events',
  summary: 'List what happened to an issue',
  description: 'Newest first. `page.total` is null: the events are not counted.',
  params: issueParams,
  query: tenantQuery.extend({
    since: SinceInput.optional().meta({
      description:
        'Only events later than this: a timestamp (UTC unless it names a zone) or a duration back from now. Compared with microseconds: to poll, pass the newest `createdAt` unchanged.',
      example: '2026-01-02T03:04:05.678901Z',
    }),
    ...pageQuery({ limit: { default: 50, max: 200 }, notANumber: 'refuse' }),
  }),
  replies: { 200: { description: 'One page.', body: PaginatedResponse(IssueEvent) } },
  errors: [{ code: 'NOT_FOUND', description: 'Not in the pipeline, or a malformed path.' }],
  refusals,
});

export const issueRetrospective = route({
  ...ofIssue,
  id: 'issueRetrospective',
  path: '/api/issues/{owner}/{repo}/{issue}/retrospective',
  summary: 'Show how an issue went',
  description: 'Its newest retrospective. An unknown issue has none.',
  params: anyIssueParams,
  replies: {
    200: {
      description: 'The retrospective; null while there is none.',
      body: z.object({ retrospective: Retrospective.nullable() }),
    },
  },
  refusals: { params: { code: 'INVALID_ISSUE_NUMBER', message: 'Invalid issue number' } },
});

export const issueDetailRoutes = [explainIssueTo, diagnoseIssue, issueStatus, issueEvents, issueRetrospective] as const;
