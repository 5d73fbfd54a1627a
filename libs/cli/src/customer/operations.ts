import type { HostedClient } from '@pipeline/client';
import type * as wire from '@pipeline/contract';
import type { z } from 'zod';

export type Bootstrap = z.output<typeof wire.Bootstrap>;
export type Issue = z.output<typeof wire.IssueListItem>;
export type IssueWhy = z.output<typeof wire.IssueWhy>;
export type PipelineOverview = z.output<typeof wire.PipelineOverview>;
export type CostSummary = z.output<typeof wire.CostSummary>;

export interface IssuePage {
  items: Issue[];
  page: { total: number; limit: number; offset: number; hasMore: boolean };
}

/** The operations of the hosted API that commands use. */
export interface Reads {
  bootstrap: { query?: { repo?: string }; result: Bootstrap };
  listIssues: { query: { repo: string; state?: string; limit?: number; offset?: number }; result: IssuePage };
  explainIssue: { params: { number: string }; query: { repo: string }; result: IssueWhy };
  pipelineOverview: { query: { repo: string }; result: PipelineOverview };
}

export type HostedReader = HostedClient<Reads>;
