import { findOrgWithRepos, type OrgRow, type OrgScope, type ReachableRepo, type Store } from '@pipeline/store';
import { repoNotFound } from './repo-not-found.ts';

interface Reachable extends Pick<OrgRow, 'org' | 'repos' | 'schemaVersion' | 'now'> {
  /** The requested repo. */
  repo: ReachableRepo | null;
}

/**
 * The organisation of a connection and its readable repos: one statement on `reads`.
 * @param slug a repo to be looked up among them, case-insensitive.
 * @throws AppError REPO_NOT_FOUND when it is none of them.
 */
export async function reachable(store: Store, scope: OrgScope, slug: string | undefined): Promise<Reachable> {
  const found = await findOrgWithRepos(store.reads, scope);
  if (slug === undefined) return { ...found, repo: null };
  const repo = found.repos.find((one) => one.slug.toLowerCase() === slug.toLowerCase());
  if (!repo) throw repoNotFound();
  return { ...found, repo };
}
