import { CHECK_STATES, isStorable } from '@pipeline/domain';
import { z } from 'zod';
import { UnreportedCosts } from '../costs/by-window.ts';
import { tenant } from '../repos/query.ts';
import { PaginatedResponse } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { ISSUE_FILTERS, IssueListItem } from './list-item.ts';

/** A row of the issue list over all repos. */
const FoundIssue = IssueListItem.extend({
  repo: z.string().meta({ description: '`owner/repo` in the case used by the host.', example: 'acme/shop' }),
  tenant: z.string().meta({ description: 'External id of the tenant.' }),
  attempt: z
    .int()
    .nonnegative()
    .nullable()
    .meta({ description: 'Attempt number of the pending or claimed task, zero-based. Null without a task.' }),
  maxAttempts: z
    .int()
    .positive()
    .nullable()
    .meta({ description: 'Attempts of that task before the issue is blocked.' }),
  slaMinutes: z.number().positive().nullable().meta({
    description: 'Minutes in this state after which the alert `sla_breach` is raised. Null = no limit.',
    example: 240,
  }),
  unreportedCosts: UnreportedCosts,
  checks: z.enum(CHECK_STATES).nullable().meta({
    description:
      'Reported checks of the head of the open pull request: `failure` when one failed, else `pending` when one has not ended. Null without a pull request or without checks.',
  }),
}).meta({ id: 'FoundIssue' });

/** An issue number, or a search term of at least three characters. */
const SEARCH = /^\s*(?:#?[1-9]\d?\s*$|\S[\s\S]+\S)/u;

const searchIssues = route({
  id: 'searchIssues',
  method: 'get',
  path: '/api/issues',
  summary: 'Search issues',
  description:
    'Searches all repos, ordered by time in the current state, longest first. `page.total` is null when `q` is given.',
  tags: ['Issues'],
  auth: 'operator',
  query: z.object({
    repo: z
      .string()
      .max(300)
      .regex(/^[^/]+\/[^/]+$/, 'must be owner/repo')
      .optional()
      .meta({ description: 'Returns only issues of this repo, `owner/repo`, case-insensitive.', example: 'acme/shop' }),
    tenant,
    state: z
      .enum(['all', ...ISSUE_FILTERS])
      .optional()
      .meta({
        description:
          '`open` = not done; `blocked` or `paused` = not done and flagged so; a state name (exact match); or `all`. Default: open, or all when `q` is given.',
        example: 'open',
      }),
    flag: z
      .enum(['blocked', 'paused'])
      .optional()
      .meta({ description: 'Returns only issues with this flag, in any state.', example: 'paused' }),
    q: z
      .string()
      .max(200)
      .refine(isStorable, 'must not contain NUL or unpaired surrogates')
      .regex(SEARCH, 'must be an issue number, or at least 3 characters of the title')
      .optional()
      .meta({
        description: 'Issue number such as 7 or #7, or a part of the title, case-insensitive.',
        example: 'checkout',
      }),
    ...pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'refuse' }),
  }),
  replies: { 200: { description: 'One page of issues.', body: PaginatedResponse(FoundIssue) } },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown or disabled repo, or unknown tenant' }],
});

export const issueRoutes = [searchIssues] as const;
