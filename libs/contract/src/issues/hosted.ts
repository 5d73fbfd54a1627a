import { z } from 'zod';
import { RepoQuery, read, repoNotFound } from '../repos/hosted-read.ts';
import { PaginatedResponse } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { issuesExample, whyExample } from './hosted-examples.ts';
import { ISSUE_FILTERS, IssueListItem } from './list-item.ts';
import { IssueWhy } from './why.ts';

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
