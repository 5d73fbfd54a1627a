import { AppError, parseSlug, type Slug } from '@pipeline/domain';
import { type Db, repoIdsOf } from '@pipeline/store';
import type { WorkerIdentity } from './worker-tokens.ts';

const slugsOf = (repos: readonly string[]): Slug[] => repos.flatMap((repo) => parseSlug(repo) ?? []);

/**
 * The repos that a request is about: those that the token reaches, cut down to the named ones. Names that the token
 * does not reach are left out, so a repo that is disabled does not stop a worker.
 * @returns null = every repo of the tenant.
 */
export async function reachOf(
  db: Db,
  { tenantId, repoIds }: WorkerIdentity,
  repos: readonly string[],
): Promise<readonly number[] | null> {
  if (repos.length === 0) return repoIds;
  const named = await repoIdsOf(db, tenantId, slugsOf(repos));
  return repoIds ? named.filter((id) => repoIds.includes(id)) : named;
}

/**
 * Refuses names that the token does not reach: a worker that registered for them would wait without an error. An
 * unknown repo and one out of reach read the same, so that no client can probe for names.
 * @throws AppError INVALID_BODY naming the first of them.
 */
export async function requireReach(db: Db, identity: WorkerIdentity, repos: readonly string[]): Promise<void> {
  const known = await reachOf(db, identity, repos);
  const keys = new Set(repos.map((repo) => repo.toLowerCase()));
  if (repos.length === 0 || known?.length === keys.size) return;
  for (const repo of repos) {
    const [id] = (await reachOf(db, identity, [repo])) ?? [];
    if (id === undefined)
      throw new AppError('INVALID_BODY', `repos: ${repo} is not enabled, or the token has no access to it`);
  }
}
