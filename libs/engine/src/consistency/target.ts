import { AppError, type ConsistencyKind, parseConsistencyId } from '@pipeline/domain';
import { type RepoWithTenant, reposWithTenant } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/** The issue that the id of a finding names. */
export interface Target {
  id: string;
  kind: ConsistencyKind;
  repo: RepoWithTenant;
  /** True = several enabled repos have the slug. */
  shared: boolean;
  number: number;
}

/**
 * Parses the id of a finding for the repair of one kind. The tenant may be included when it is not needed.
 * @throws AppError CONSISTENCY_FINDING_NOT_FOUND for an invalid id, an id of another kind, an unknown or disabled repo,
 * or an ambiguous slug without the tenant; INVALID_ARGUMENT for an id without issue number.
 */
export async function targetOf(engine: Engine, id: string, kind: ConsistencyKind): Promise<Target> {
  const ref = parseConsistencyId(id);
  if (ref?.kind !== kind) throw notFound(id, `expected an id like ${kind}:owner/repo#N`);
  const all = await reposWithTenant(engine.store.db, ref.repo);
  const repos = ref.tenant === null ? all : all.filter((repo) => repo.tenant === ref.tenant);
  const [repo, another] = repos;
  if (!repo) throw notFound(id, 'no such repo is enabled');
  if (another) throw notFound(id, 'several tenants have this repo, add @tenant');
  if (ref.issueNumber === null) throw new AppError('INVALID_ARGUMENT', `The finding has no issue number: ${id}`);
  return { id, kind, repo, shared: all.length > 1, number: ref.issueNumber };
}

export const notFound = (id: string, why: string): AppError =>
  new AppError('CONSISTENCY_FINDING_NOT_FOUND', `Consistency finding not found: ${id} (${why})`);
