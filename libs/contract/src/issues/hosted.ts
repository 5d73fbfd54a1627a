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
    'Those longest in their state first. A page has at most 2 MiB: `page.limit` is what was given, less than what was asked for if need be. Send the ETag of a page as If-None-Match to be told cheaply that nothing changed.',
  query: z.object({
    repo: RepoQuery,
    state: z.enum(ISSUE_FILTERS).default('open').meta({
      description: 'open = not done; blocked, paused = open and marked so; or one state exactly.',
      example: 'open',
    }),
    ...pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'refuse' }),
  }),
  headers: z.object({
    'if-none-match': z.string().optional().meta({
      description: 'The ETag of a page: answered with 304 when nothing has changed since.',
      example: '"1-3kq"',
    }),
  }),
  replies: {
    200: {
      description: 'One page.',
      body: PaginatedResponse(IssueListItem),
      example: issuesExample,
      headers: { etag: { description: 'Names what the list shows now.', schema: z.string() } },
    },
    304: {
      description: 'Nothing changed since the page that If-None-Match names.',
      headers: { etag: { description: 'The same as before.', schema: z.string() } },
    },
  },
  errors: [repoNotFound],
});

export const explainIssue = route({
  ...read,
  id: 'explainIssue',
  path: '/api/cli/issues/{number}/why',
  summary: 'Explain why an issue is where it is',
  description: 'In one sentence, and in detail: what it waits for, its last moves, its last error, what would help.',
  params: z.object({
    number: z
      .string()
      .regex(/^[1-9]\d{0,14}$/, 'must be a positive integer')
      .meta({ description: 'Number of the issue.', example: '7' }),
  }),
  query: z.object({ repo: RepoQuery }),
  replies: { 200: { description: 'Why.', body: IssueWhy, example: whyExample } },
  errors: [repoNotFound, 'ISSUE_NOT_FOUND'],
  refusals: { params: { code: 'INVALID_INPUT', message: 'The number of the issue must be a positive integer' } },
});
