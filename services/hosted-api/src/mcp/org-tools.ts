import {
  AgentFinding,
  Bootstrap,
  CostSummary,
  NextOffset,
  PaginatedResponse,
  PipelineOverview,
  RepoQuery,
  RetrievalResult,
} from '@pipeline/contract';
import { FINDING_STATUSES, RETRIEVAL_AGENTS, SEVERITIES } from '@pipeline/domain';
import { costsOf, listRepoFindings, retrieveForOrg } from '@pipeline/engine';
import { z } from 'zod';
import { bootstrapOf, overviewFor } from '../context/reads.ts';
import { fitList, fitLists, fitPage, MAX_ITEMS } from './fit.ts';
import { number, paging } from './issue-tools.ts';
import { type AnyReadTool, readTool } from './tool.ts';

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
