import { findingsPage, type OrgScope, type Store } from '@pipeline/store';
import { repoNotFound } from '../repos/repo-not-found.ts';

interface FindingQuery {
  slug: string;
  status?: string | undefined;
  category?: string | undefined;
  severity?: string | undefined;
  limit: number;
  offset: number;
}

/** A page of agents' findings in a repo, newest first. @throws AppError REPO_NOT_FOUND. */
export async function listRepoFindings<F>(store: Store, scope: OrgScope, query: FindingQuery) {
  const { slug, status = null, category = null, severity = null, limit, offset } = query;
  const found = await findingsPage<F>(store.reads, scope, { slug, status, category, severity, limit, offset });
  if (!found) throw repoNotFound();
  const { items, total } = found;
  return { items, page: { total, limit, offset, hasMore: offset + items.length < total } };
}
