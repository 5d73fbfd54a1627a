import { z } from 'zod';
import { RepoQuery, read, repoNotFound } from '../repos/hosted-read.ts';
import { PaginatedResponse } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { ISSUE_FILTERS, IssueListItem } from './list-item.ts';
import { IssueWhy } from './why.ts';

const AT = '2026-01-02T03:04:05.678Z';
const NOW = '2026-01-02T03:20:00.000Z';

const issuesExample = {
  items: [
    {
      issueNumber: 7,
      title: 'Add a table of contents',
      url: 'https://github.com/acme/shop/issues/7',
      state: 'in-review',
      isBlocked: false,
      isPaused: false,
      blockReason: null,
      blockClassification: null,
      stateEnteredAt: AT,
      currentStatus: 'reading the diff',
      activeTaskType: 'review',
      assignedAgent: 'reviewer',
      prNumber: 9,
      labels: ['docs', 'svc:in-review'],
      parentIssueNumber: null,
      dependsOn: [3],
      costUsd: 0.25,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: AT,
    },
  ],
  page: { total: 1, limit: 100, offset: 0, hasMore: false },
};

const whyExample = {
  repo: 'acme/shop',
  issueNumber: 7,
  title: 'Add a table of contents',
  state: 'in-review',
  stateEnteredAt: AT,
  isBlocked: false,
  isPaused: false,
  blockReason: null,
  blockClassification: null,
  blockedFromState: null,
  explanation:
    'acme/shop#7 is in review and waits for a free worker to claim its review task (attempt 1 of 3), since 2026-01-02 03:04 UTC.',
  waitingOn: [
    { kind: 'worker', ref: null, detail: 'a free worker to claim its review task (attempt 1 of 3)', since: AT },
  ],
  recentTransitions: [
    {
      from: 'ready-for-dev',
      to: 'in-review',
      at: AT,
      agent: 'developer',
      actorType: 'agent',
      actorId: 'wkr_1',
      reason: null,
      forced: false,
      durationInFromMs: 184_000,
    },
  ],
  lastError: null,
  activeTasks: [{ taskType: 'review', status: 'pending', claimedBy: null }],
  recommendations: ['Start a worker for this task type if none becomes free.'],
  checks: [{ name: 'build', state: 'success', conclusion: 'success', url: 'https://ci.example.org/1' }],
  rounds: [{ from: 'in-review', trigger: 'changes-requested', count: 1, max: 3 }],
  textChange: null,
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  serverTimestamp: NOW,
};

export const listIssues = route({
  ...read,
  id: 'listIssues',
  path: '/api/cli/issues',
  summary: 'List the issues of a repo',
  description:
    'Ordered by time in the current state, longest first. A page holds at most 2 MiB; `page.limit` is the applied limit and may be lower than the requested one. Send the ETag of a page as If-None-Match to receive 304 while the list is unchanged.',
  query: z.object({
    repo: RepoQuery,
    state: z.enum(ISSUE_FILTERS).default('open').meta({
      description:
        '`open` = not done; `blocked` or `paused` = not done and flagged so; or a state name (exact match). Default: open.',
      example: 'open',
    }),
    ...pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'refuse' }),
  }),
  headers: z.object({
    'if-none-match': z.string().optional().meta({
      description: 'ETag of an earlier page. Returns 304 when the list has not changed.',
      example: '"1-3kq"',
    }),
  }),
  replies: {
    200: {
      description: 'One page of issues.',
      body: PaginatedResponse(IssueListItem),
      example: issuesExample,
      headers: { etag: { description: 'Version of the list.', schema: z.string() } },
    },
    304: {
      description: 'The list has not changed since the page given by If-None-Match.',
      headers: { etag: { description: 'Version of the list, unchanged.', schema: z.string() } },
    },
  },
  errors: [repoNotFound],
});

export const explainIssue = route({
  ...read,
  id: 'explainIssue',
  path: '/api/cli/issues/{number}/why',
  summary: 'Explain why an issue is in its state',
  description:
    'Returns a one-sentence explanation, what the issue waits for, its recent transitions, its last error and suggested actions.',
  params: z.object({
    number: z
      .string()
      .regex(/^[1-9]\d{0,14}$/, 'must be a positive integer')
      .meta({ description: 'Issue number on the host, a positive integer.', example: '7' }),
  }),
  query: z.object({ repo: RepoQuery }),
  replies: { 200: { description: 'The explanation.', body: IssueWhy, example: whyExample } },
  errors: [repoNotFound, 'ISSUE_NOT_FOUND'],
  refusals: { params: { code: 'INVALID_INPUT', message: 'The issue number must be a positive integer' } },
});
