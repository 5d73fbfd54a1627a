import { isStorable } from '@pipeline/domain';
import { z } from 'zod';
import { tenant } from '../repos/query.ts';
import { PaginatedResponse } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { route } from '../wire/route.ts';
import { ISSUE_FILTERS, IssueListItem } from './list-item.ts';

/** A row of the list over all repos. */
export const FoundIssue = IssueListItem.extend({
  repo: z.string().meta({ description: 'As the host spells it.', example: 'acme/shop' }),
  tenant: z.string().meta({ description: 'External id of its tenant.' }),
}).meta({ id: 'FoundIssue' });

/** A number of one or two digits, or at least three characters between blanks. */
const SEARCH = /^\s*(?:#?[1-9]\d?\s*$|\S[\s\S]+\S)/u;

export const searchIssues = route({
  id: 'searchIssues',
  method: 'get',
  path: '/api/issues',
  summary: 'Find issues',
  description:
    'Over all repos, those longest in their state first. `page.total` is null with `q`: what is found is not counted.',
  tags: ['Issues'],
  auth: 'operator',
  query: z.object({
    repo: z
      .string()
      .max(300)
      .regex(/^[^/]+\/[^/]+$/, 'must be owner/repo')
      .optional()
      .meta({ description: 'Only of this repo: owner/repo, in any case.', example: 'acme/shop' }),
    tenant,
    state: z
      .enum(['all', ...ISSUE_FILTERS])
      .optional()
      .meta({
        description:
          'open = not done; blocked, paused = open and marked so; one state exactly; or all. Without it open, with `q` all.',
        example: 'open',
      }),
    flag: z
      .enum(['blocked', 'paused'])
      .optional()
      .meta({ description: 'Only those that are marked so, in whatever state.', example: 'paused' }),
    q: z
      .string()
      .max(200)
      .refine(isStorable, 'must hold no NUL and no half of a surrogate pair')
      .regex(SEARCH, 'must be the number of an issue, or at least 3 characters of its title')
      .optional()
      .meta({ description: 'A number such as 7 or #7, or a part of the title in any case.', example: 'checkout' }),
    ...pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'refuse' }),
  }),
  replies: { 200: { description: 'One page.', body: PaginatedResponse(FoundIssue) } },
  errors: [{ code: 'NOT_FOUND', description: 'No enabled repo, or no tenant, of that name.' }],
});

export const issueRoutes = [searchIssues] as const;
