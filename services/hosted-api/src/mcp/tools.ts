import {
  AgentFinding,
  Bootstrap,
  CostSummary,
  ISSUE_FILTERS,
  IssueListItem,
  IssueTimeline,
  IssueWhy,
  NextOffset,
  PaginatedResponse,
  PipelineOverview,
  RepoQuery,
  RetrievalResult,
} from '@pipeline/contract';
import { FINDING_STATUSES, MAX_ISSUE_NUMBER, RETRIEVAL_AGENTS, SEVERITIES } from '@pipeline/domain';
import {
  costsOf,
  explainIssue,
  type IssueQuery,
  listIssues,
  listRepoFindings,
  retrieveForOrg,
  timelineOf,
} from '@pipeline/engine';
import { z } from 'zod';
import type { ConnectionIdentity } from '../auth/connection-tokens.ts';
import { bootstrapOf, overviewFor, type ReadContext } from '../context/reads.ts';

/** An assistant has to read what it gets: more than this does not help. */
const MAX_OCTETS = 64 * 1024;
const MAX_ITEMS = 100;

const octetsOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

interface Page {
  total: number | null;
  limit: number;
  offset: number;
  hasMore: boolean;
}

/** Identity of the caller, and the context that tools work with. */
export interface ToolCall {
  context: ReadContext;
  identity: ConnectionIdentity;
}

/** A read as a tool for assistants: the same use case as the REST endpoint of its resource. */
export interface ReadTool<I extends z.ZodObject, O extends z.ZodObject> {
  name: string;
  title: string;
  /** Description for the assistant that chooses among the tools. */
  description: string;
  input: I;
  output: O;
  /** @throws AppError, which the client receives as the result of the call. */
  run(call: ToolCall, args: z.output<I>): Promise<z.input<O>>;
}

/** Its exact types set aside, for a list of different ones. */
export type AnyReadTool = ReadTool<z.ZodObject, z.ZodObject>;

/** An argument that the tool does not have is refused: ignoring it would answer another question than the one asked. */
export const readTool = <I extends z.ZodObject, O extends z.ZodObject>(tool: ReadTool<I, O>): AnyReadTool =>
  ({ ...tool, input: tool.input.strict() }) as unknown as AnyReadTool;

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

export const orgTools: readonly AnyReadTool[] = [
  readTool({
    name: 'get_bootstrap',
    title: 'Get the organisation and its repositories',
    description:
      'The organisation, the accessible repositories and the current user. Call this tool first to get the repository names.',
    input: z.object({
      repo: RepoQuery.optional().describe('Adds the details of this repository: owner/name, case-insensitive.'),
      offset: paging.offset,
    }),
    output: Bootstrap.extend({ nextOffset: NextOffset }),
    run: async ({ context, identity }, { repo, offset }) => {
      const { repos, ...body } = await bootstrapOf(context, identity, repo);
      const { kept, ...next } = fitList(repos, body, { offset, limit: MAX_ITEMS });
      return { ...body, repos: kept, ...next };
    },
  }),
  readTool({
    name: 'pipeline_overview',
    title: 'Get the pipeline overview of a repository',
    description: 'Issue counts by state, queue, workers, blocked issues, recent failures and cost.',
    input: z.object({ repo: RepoQuery }),
    output: PipelineOverview,
    run: async ({ context, identity }, { repo }) => {
      const overview = await overviewFor(context, identity, repo);
      const { body, cut } = fitLists(overview, ['recentFailures', 'blockedIssues', 'inFlightTasks']);
      return { ...body, truncated: overview.truncated || cut };
    },
  }),
  readTool({
    name: 'list_findings',
    title: 'List findings of a repository',
    description: 'Findings reported by agents, newest first: risks, failed checks, requirements gaps, review findings.',
    input: z.object({
      repo: RepoQuery,
      status: z.enum(FINDING_STATUSES).optional().describe('Returns only findings with this status.'),
      severity: z.enum(SEVERITIES).optional().describe('Returns only findings of exactly this severity.'),
      category: z.string().max(100).optional().describe('Returns only findings of this category (exact match).'),
      ...paging,
    }),
    output: PaginatedResponse(AgentFinding).extend({ nextOffset: NextOffset }),
    run: async ({ context, identity }, { repo, ...query }) =>
      fitPage(
        await listRepoFindings<z.input<typeof AgentFinding>>(context.engine.store, identity.scope, {
          slug: repo,
          ...query,
        }),
      ),
  }),
  readTool({
    name: 'retrieve_intelligence',
    title: 'Retrieve knowledge about a repository',
    description:
      'Knowledge relevant to an issue, for an agent role and within a token budget: invariants, decisions, past failures, and files that the work is likely to change.',
    input: z.object({
      repo: RepoQuery,
      agent: z.enum(RETRIEVAL_AGENTS).describe('Agent role. Each role ranks the kinds of items differently.'),
      issue: number.optional().describe('Issue number.'),
      pr: number.optional().describe('Number of the pull request under review.'),
      budget: z.int().min(1).max(1_000_000).optional().describe('Token budget. Default: the configured budget.'),
    }),
    output: RetrievalResult,
    run: async ({ context, identity }, { repo, ...about }) => {
      const found = await retrieveForOrg(context.engine, identity.scope, { slug: repo, ...about });
      const { body, cut } = fitLists(found, ['snippets', 'candidateFiles']);
      return { ...body, truncated: found.truncated || cut };
    },
  }),
  readTool({
    name: 'get_cost_summary',
    title: 'Get the cost summary',
    description:
      'Cost of the last 24 hours, 7 days, 30 days and of all time in USD, by repository and by agent, for all accessible repositories or for one.',
    input: z.object({
      repo: RepoQuery.optional().describe('Restricts the result to this repository: owner/name, case-insensitive.'),
    }),
    output: CostSummary,
    run: async ({ context, identity }, { repo }) => costsOf(context.engine.store, identity.scope, context.now(), repo),
  }),
];

/** Counts the items that fit beside `others` octets; one at least, or no page would ever end. */
function fitting(items: readonly unknown[], others: number): number {
  let octets = others;
  const over = items.findIndex((item) => {
    octets += octetsOf(item) + 1;
    return octets > MAX_OCTETS;
  });
  return over === -1 ? items.length : Math.max(1, over);
}

/** A page as a tool gives it: the REST body, cut to what fits, and where the next page begins if there is one. */
function fitPage<T>({ items, page }: { items: T[]; page: Page }) {
  const kept = items.slice(0, fitting(items, octetsOf(page) + 100));
  const hasMore = page.hasMore || kept.length < items.length;
  return {
    items: kept,
    page: { ...page, limit: kept.length < items.length ? kept.length : page.limit, hasMore },
    ...(hasMore && { nextOffset: page.offset + kept.length }),
  };
}

/** A list inside of a body, cut to the page that fits. @returns the list, and where its next page begins. */
function fitList<T>(list: readonly T[], body: object, { offset, limit }: { offset: number; limit: number }) {
  const wanted = list.slice(offset, offset + limit);
  const kept = wanted.slice(0, fitting(wanted, octetsOf(body)));
  const next = offset + kept.length;
  return { kept, ...(next < list.length && { nextOffset: next }) };
}

/** A body whose lists are halved, the longest first, until it fits. @returns also whether anything was cut. */
function fitLists<B extends object>(body: B, keys: readonly (keyof B)[]): { body: B; cut: boolean } {
  let fitted = body;
  while (octetsOf(fitted) > MAX_OCTETS) {
    const lengthOf = (key: keyof B) => (fitted[key] as unknown[]).length;
    const longest = keys.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
    if (lengthOf(longest) === 0) break;
    fitted = { ...fitted, [longest]: (fitted[longest] as unknown[]).slice(0, lengthOf(longest) >> 1) };
  }
  return { body: fitted, cut: fitted !== body };
}
