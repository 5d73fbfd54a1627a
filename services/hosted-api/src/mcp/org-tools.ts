import {
  AgentFinding,
  Bootstrap,
  CostSummary,
  NextOffset,
  PaginatedResponse,
  PipelineOverview,
  RepoQuery,
} from '@pipeline/contract';
import { FINDING_STATUSES, SEVERITIES } from '@pipeline/domain';
import { costsOf, listRepoFindings } from '@pipeline/engine';
import { z } from 'zod';
import { bootstrapOf, overviewFor } from '../reads.ts';
import { fitList, fitLists, fitPage, MAX_ITEMS } from './fit.ts';
import { paging } from './issue-tools.ts';
import { type AnyReadTool, readTool } from './tool.ts';

export const orgTools: readonly AnyReadTool[] = [
  readTool({
    name: 'get_bootstrap',
    title: 'Show the organisation and its repositories',
    description: 'The organisation, the repositories within reach and who is looking. Begin here to learn their names.',
    input: z.object({ repo: RepoQuery.optional(), offset: paging.offset }),
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
      status: z.enum(FINDING_STATUSES).optional(),
      severity: z.enum(SEVERITIES).optional(),
      category: z.string().max(100).optional(),
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
    name: 'get_cost_summary',
    title: 'Show what the pipeline costs',
    description: 'Cost of the last 24 hours, 7 days, 30 days and of all time in USD, by repository and by agent.',
    input: z.object({}),
    output: CostSummary,
    run: async ({ context, identity }) => costsOf(context.engine.store, identity.scope, context.now()),
  }),
];
