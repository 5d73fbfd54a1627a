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
  limit: z.int().min(1).max(MAX_ITEMS).default(50).describe('How many items at most.'),
  offset: z.int().min(0).max(2_147_483_647).default(0).describe('How many to skip; nextOffset of the page before.'),
};
export const number = z.int().min(1).max(MAX_ISSUE_NUMBER).describe('Number of the issue.');
const IssuePage = PaginatedResponse(IssueListItem).extend({ nextOffset: NextOffset });

async function issuePage({ context, identity }: ToolCall, query: IssueQuery): Promise<z.input<typeof IssuePage>> {
  const { json } = await listIssues(context.engine.store, identity.scope, query);
  return fitPage(JSON.parse(json));
}

export const issueTools: readonly AnyReadTool[] = [
  readTool({
    name: 'list_issues',
    title: 'List the issues of a repository',
    description:
      'Issues of a repository in the pipeline with their state, labels, pull request and cost, those longest in their state first.',
    input: z.object({
      repo: RepoQuery,
      state: z.enum(ISSUE_FILTERS).default('open').describe('open, blocked, paused, or one state exactly.'),
      ...paging,
    }),
    output: IssuePage,
    run: (call, { repo, state, limit, offset }) => issuePage(call, { slug: repo, filter: state, limit, offset }),
  }),
  readTool({
    name: 'list_blocked_issues',
    title: 'List the blocked issues of a repository',
    description: 'Issues that were stopped, with the reason, those stopped longest first.',
    input: z.object({ repo: RepoQuery, ...paging }),
    output: IssuePage,
    run: (call, { repo, limit, offset }) => issuePage(call, { slug: repo, filter: 'blocked', limit, offset }),
  }),
  readTool({
    name: 'explain_issue',
    title: 'Explain why an issue is where it is',
    description:
      'One sentence on what an issue waits for, then in detail: what it waits for, its last moves, its last error and what would bring it on.',
    input: z.object({ repo: RepoQuery, issue: number }),
    output: IssueWhy,
    run: async ({ context, identity }, { repo, issue }) => {
      const why = await explainIssue(context.engine.store, identity.scope, { slug: repo, number: issue });
      return fitLists(why, ['recentTransitions', 'waitingOn']).body;
    },
  }),
  readTool({
    name: 'get_timeline',
    title: 'Tell the story of an issue',
    description: 'Everything that happened to an issue, oldest first: moves, runs of agents, comments, errors.',
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
