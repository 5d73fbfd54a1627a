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
    title: 'Show the organisation and its repositories',
    description: 'The organisation, the repositories within reach and who is looking. Begin here to learn their names.',
    input: z.object({
      repo: RepoQuery.optional().describe('Adds the details of this repository, owner/name in any case.'),
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
    title: 'Show how the pipeline of a repository does',
    description: 'Open issues by state, queue, workers, what is blocked, what failed lately, what it costs.',
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
    title: 'List what agents noticed in a repository',
    description: 'Findings of agents, newest first: risks, failed checks, gaps in requirements, review remarks.',
    input: z.object({
      repo: RepoQuery,
      status: z.enum(FINDING_STATUSES).optional().describe('Only findings of this status.'),
      severity: z.enum(SEVERITIES).optional().describe('Only findings of this severity, not of higher ones.'),
      category: z.string().max(100).optional().describe('Only findings of this category, spelt as in the findings.'),
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
    title: 'Retrieve what is known of a repository',
    description:
      'What is worth knowing before work on an issue, for the role of an agent and within a budget of tokens: invariants, decisions, failures of the past, files that the work may touch.',
    input: z.object({
      repo: RepoQuery,
      agent: z.enum(RETRIEVAL_AGENTS).describe('Each role is given other kinds first.'),
      issue: number.optional().describe('Number of the issue that is worked on.'),
      pr: number.optional().describe('Number of the pull request that is reviewed.'),
      budget: z.int().min(1).max(1_000_000).optional().describe('Tokens, in place of the configured budget.'),
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
    title: 'Show what the pipeline costs',
    description:
      'Cost of the last 24 hours, 7 days, 30 days and of all time in USD, by repository and by agent; of all repositories within reach or of one.',
    input: z.object({ repo: RepoQuery.optional().describe('Only this repository, owner/name in any case.') }),
    output: CostSummary,
    run: async ({ context, identity }, { repo }) => costsOf(context.engine.store, identity.scope, context.now(), repo),
  }),
];
