import { ROLES } from '@pipeline/domain';
import { z } from 'zod';
import { memberRoutes } from './accounts/browser-members.ts';
import { change, get, inOrg, OrgQuery, orgErrors } from './accounts/browser-route.ts';
import { Bootstrap } from './accounts/hosted-bootstrap.ts';
import { PipelineOverview } from './analytics/hosted.ts';
import { CostSummary } from './costs/summary.ts';
import { ISSUE_FILTERS, IssueListItem } from './issues/list-item.ts';
import { IssueTimeline } from './issues/timeline.ts';
import { IssueWhy } from './issues/why.ts';
import { RepoQuery, repoNotFound } from './repos/hosted-read.ts';
import { PaginatedResponse, Timestamp } from './wire/envelopes.ts';
import { pageQuery } from './wire/paging.ts';
import { route } from './wire/route.ts';
import { getAsset } from './wire/web-files.ts';

const repoErrors = [...orgErrors, repoNotFound];

const inRepo = z.object({ org: OrgQuery, repo: RepoQuery });

const issueNumber = z.object({
  number: z.string().regex(/^[1-9]\d{0,14}$/, 'must be a positive integer'),
});
const badNumber = {
  params: { code: 'INVALID_INPUT', message: 'The issue number must be a positive integer' },
} as const;
const issueErrors = [...repoErrors, 'ISSUE_NOT_FOUND'] as const;

const BrowserUser = z.object({
  email: z.string(),
  name: z.string(),
  orgs: z.array(z.object({ slug: z.string(), name: z.string(), role: z.enum(ROLES) })),
  formToken: z.string(),
});

const Ended = z.object({ ended: z.int().nonnegative() });

const browserUser = route({
  ...get,
  id: 'browserUser',
  path: '/account/data/user',
  summary: 'Get the logged-in user',
  description: 'Returns the user of the browser session and their organisations.',
  replies: { 200: { description: 'The user.', body: BrowserUser } },
});

const browserBootstrap = route({
  ...get,
  id: 'browserBootstrap',
  path: '/account/data/bootstrap',
  summary: 'Get an organisation and its repos',
  description: 'Returns the same as the bootstrap of a connection, for the session.',
  query: inOrg,
  replies: { 200: { description: 'Bootstrap data.', body: Bootstrap } },
  errors: orgErrors,
});

const browserCosts = route({
  ...get,
  id: 'browserCosts',
  path: '/account/data/costs',
  summary: 'Get the costs of an organisation',
  description: 'Costs of all repos that the user has access to.',
  query: inOrg,
  replies: { 200: { description: 'Costs in USD.', body: CostSummary } },
  errors: orgErrors,
});

const browserOverview = route({
  ...get,
  id: 'browserOverview',
  path: '/account/data/overview',
  summary: 'Get the overview of a repo',
  description: 'Returns the same as the overview of a connection, for the session.',
  query: inRepo,
  replies: { 200: { description: 'Pipeline snapshot.', body: PipelineOverview } },
  errors: repoErrors,
});

const browserIssues = route({
  ...get,
  id: 'browserIssues',
  path: '/account/data/issues',
  summary: 'List the issues of a repo',
  description: 'Ordered by time in the current state, longest first.',
  query: inRepo.extend({
    state: z.enum(ISSUE_FILTERS).default('open'),
    ...pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'refuse' }),
  }),
  replies: { 200: { description: 'One page of issues.', body: PaginatedResponse(IssueListItem) } },
  errors: repoErrors,
});

const browserIssue = route({
  ...get,
  id: 'browserIssue',
  path: '/account/data/issues/{number}/why',
  summary: 'Explain why an issue is in its state',
  description: 'Returns the same as the explanation for a connection, for the session.',
  params: issueNumber,
  query: inRepo,
  replies: { 200: { description: 'The explanation.', body: IssueWhy } },
  errors: issueErrors,
  refusals: badNumber,
});

const browserTimeline = route({
  ...get,
  id: 'browserTimeline',
  path: '/account/data/issues/{number}/timeline',
  summary: 'Get the timeline of an issue',
  description: 'Entries of the timeline, oldest first, in pages.',
  params: issueNumber,
  query: inRepo.extend(pageQuery({ limit: { default: 200, max: 500 }, notANumber: 'refuse' })),
  replies: { 200: { description: 'A page of the timeline.', body: IssueTimeline.extend({ total: z.int() }) } },
  errors: issueErrors,
  refusals: badNumber,
});

const browserChanges = route({
  ...get,
  id: 'browserChanges',
  path: '/account/data/changes',
  summary: 'Stream that an organisation has changed',
  description: [
    'Server-sent events without content. `changed` is sent when anything in the organisation has changed, at most once a',
    'second. The stream ends when the session or the membership does, at most 30 seconds later.',
  ].join(' '),
  query: inOrg,
  replies: {
    200: {
      description: 'The stream.',
      streamed: true,
      type: 'text/event-stream',
      content: { 'text/event-stream': z.string().meta({ description: 'Messages with the line `event: changed`.' }) },
    },
  },
  errors: [...orgErrors, 'SSE_UNAVAILABLE', 'RATE_LIMITED'],
});

const browserConnections = route({
  ...get,
  id: 'browserConnections',
  path: '/account/data/connections',
  summary: 'List your connections',
  description: 'Programs that read on behalf of the user, newest first.',
  replies: {
    200: {
      description: 'The connections.',
      body: z.object({
        items: z.array(
          z.object({
            id: z.string(),
            clientName: z.string(),
            organisation: z.string(),
            createdAt: Timestamp,
            lastUsedAt: Timestamp.nullable(),
            expiresAt: Timestamp,
          }),
        ),
      }),
    },
  },
});

const browserEndConnection = route({
  ...change,
  id: 'browserEndConnection',
  path: '/account/data/connections/{id}/end',
  params: z.object({ id: z.string() }),
  summary: 'End a connection',
  description: 'Revokes a connection of the user immediately. `ended` is 0 when there was no such connection.',
  replies: { 200: { description: 'Number of ended connections.', body: Ended } },
});

const browserEndConnections = route({
  ...change,
  id: 'browserEndConnections',
  path: '/account/data/connections/end-all',
  summary: 'End all connections',
  description: 'Revokes all connections of the user immediately.',
  replies: { 200: { description: 'Number of ended connections.', body: Ended } },
});

const browserSessions = route({
  ...get,
  id: 'browserSessions',
  path: '/account/data/sessions',
  summary: 'List your sessions',
  description: 'Browsers where the user is logged in, newest first; at most 100.',
  replies: {
    200: {
      description: 'The sessions.',
      body: z.object({
        items: z.array(
          z.object({ id: z.string(), createdAt: Timestamp, expiresAt: Timestamp, isCurrent: z.boolean() }),
        ),
      }),
    },
  },
});

const browserEndSession = route({
  ...change,
  id: 'browserEndSession',
  path: '/account/data/sessions/{id}/end',
  params: z.object({ id: z.string() }),
  summary: 'End a session',
  description: 'Logs a browser of the user out. `ended` is 0 when there was no such session.',
  replies: { 200: { description: 'Number of ended sessions.', body: Ended } },
});

/** Routes of the customers' pages: reads, changes, and their files. */
export const browserRoutes = [
  getAsset,
  browserUser,
  browserBootstrap,
  browserCosts,
  browserOverview,
  browserIssues,
  browserIssue,
  browserTimeline,
  browserChanges,
  browserConnections,
  // Before the route with a parameter in the place of `end-all`.
  browserEndConnections,
  browserEndConnection,
  ...memberRoutes,
  browserSessions,
  browserEndSession,
] as const;
