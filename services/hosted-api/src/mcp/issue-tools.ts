import {
  ISSUE_FILTERS,
  IssueListItem,
  IssueTimeline,
  IssueWhy,
  NextOffset,
  PaginatedResponse,
  RepoQuery,
} from '@pipeline/contract';
import { MAX_ISSUE_NUMBER } from '@pipeline/domain';
import { explainIssue, type IssueQuery, listIssues, timelineOf } from '@pipeline/engine';
import { z } from 'zod';
import { fitLists, fitPage, MAX_ITEMS } from './fit.ts';
import { type AnyReadTool, readTool, type ToolCall } from './tool.ts';

export const paging = {
  limit: z.int().min(1).max(MAX_ITEMS).default(50).describe('Maximum number of items.'),
  offset: z
    .int()
    .min(0)
    .max(2_147_483_647)
    .default(0)
    .describe('Number of items to skip; pass nextOffset of the previous page.'),
};
export const number = z.int().min(1).max(MAX_ISSUE_NUMBER).describe('Issue number.');
const IssuePage = PaginatedResponse(IssueListItem).extend({ nextOffset: NextOffset });

async function issuePage({ context, identity }: ToolCall, query: IssueQuery): Promise<z.input<typeof IssuePage>> {
  const { json } = await listIssues(context.engine.store, identity.scope, query);
  return fitPage(JSON.parse(json));
}

export const issueTools: readonly AnyReadTool[] = [
  readTool({
    name: 'list_issues',
    title: 'List issues of a repository',
    description:
      'Issues of a repository in the pipeline with their state, labels, pull request and cost, ordered by time in the state, longest first.',
    input: z.object({
      repo: RepoQuery,
      state: z.enum(ISSUE_FILTERS).default('open').describe('open, blocked, paused, or a state name (exact match).'),
      ...paging,
    }),
    output: IssuePage,
    run: (call, { repo, state, limit, offset }) => issuePage(call, { slug: repo, filter: state, limit, offset }),
  }),
  readTool({
    name: 'list_blocked_issues',
    title: 'List blocked issues of a repository',
    description: 'Blocked issues with the block reason, longest blocked first.',
    input: z.object({ repo: RepoQuery, ...paging }),
    output: IssuePage,
    run: (call, { repo, limit, offset }) => issuePage(call, { slug: repo, filter: 'blocked', limit, offset }),
  }),
  readTool({
    name: 'explain_issue',
    title: 'Explain why an issue is in its state',
    description:
      'Returns a one-sentence explanation, what the issue waits for, its recent transitions, its last error and suggested actions.',
    input: z.object({ repo: RepoQuery, issue: number }),
    output: IssueWhy,
    run: async ({ context, identity }, { repo, issue }) => {
      const why = await explainIssue(context.engine.store, identity.scope, { slug: repo, number: issue });
      return fitLists(why, ['recentTransitions', 'waitingOn']).body;
    },
  }),
  readTool({
    name: 'get_timeline',
    title: 'Get the timeline of an issue',
    description: 'Transitions, agent runs, events and errors of an issue, oldest first.',
    input: z.object({ repo: RepoQuery, issue: number, ...paging }),
    output: IssueTimeline.extend({ nextOffset: NextOffset }),
    run: async ({ context, identity }, { repo, issue, limit, offset }) => {
      const query = { slug: repo, number: issue, limit, offset };
      const { timeline, total } = await timelineOf(context.engine.store, identity.scope, query);
      const { body } = fitLists(timeline, ['entries', 'stateTransitions']);
      const next = offset + body.entries.length;
      return { ...body, ...(next < total && { nextOffset: next }) };
    },
  }),
];
