import {
  AGGREGATE_ABOVE,
  aggregateIssueCounts,
  type IssueFilter,
  issuePage,
  issueRevision,
  type OrgScope,
  type Store,
} from '@pipeline/store';
import { repoNotFound } from '../repos/repo-not-found.ts';

export interface IssueQuery {
  slug: string;
  filter: IssueFilter;
  limit: number;
  offset: number;
}

interface ListedIssues {
  /** The complete response text: items are stored as text and not parsed again. */
  json: string;
  /** Identifies the revision of the list; every change in the repo makes a new one. */
  tag: string;
}

/** Maximum octets of a response. */
const MAX_OCTETS = 2 * 1024 * 1024;

/**
 * One page of a repo's issues, its total and its tag, in one statement and so one snapshot. A page over two MiB is read
 * again with half its limit. A reader that finds too many pending deltas aggregates them, so that later pages do not
 * pay for them.
 * @throws AppError REPO_NOT_FOUND.
 */
export async function listIssues(store: Store, scope: OrgScope, query: IssueQuery): Promise<ListedIssues> {
  const found = await issuePage(store.reads, scope, query);
  if (!found) throw repoNotFound();
  if (found.unfolded > AGGREGATE_ABOVE) await aggregateIssueCounts(store.db, scope.tenantId, found.repoId);
  const { limit, offset } = query;
  const { items, total } = found;
  const hasMore = offset + limit < total;
  const json = `{"items":[${items}],"page":{"total":${total},"limit":${limit},"offset":${offset},"hasMore":${hasMore}}}`;
  if (limit > 1 && Buffer.byteLength(json) > MAX_OCTETS) {
    return listIssues(store, scope, { ...query, limit: Math.floor(limit / 2) });
  }
  return { json, tag: tagOf(found) };
}

/** The tag of a repo's list, for callers that have a page already. @throws AppError REPO_NOT_FOUND. */
export async function issuesTag(store: Store, scope: OrgScope, slug: string): Promise<string> {
  const found = await issueRevision(store.reads, scope, slug);
  if (!found) throw repoNotFound();
  return tagOf(found);
}

const tagOf = ({ repoId, revision }: { repoId: number; revision: number }): string => `"${repoId}-${revision}"`;
