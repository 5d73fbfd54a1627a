import type { IssueAddress } from '@pipeline/engine';

interface Call {
  params: { owner: string; repo: string; issue: string };
  query: { tenant?: string | undefined };
}

/** The issue that a path names; its number has been checked. */
export const addressOf = ({ params, query }: Call): IssueAddress => ({
  owner: params.owner,
  repo: params.repo,
  number: Number(params.issue),
  tenant: query.tenant,
});
