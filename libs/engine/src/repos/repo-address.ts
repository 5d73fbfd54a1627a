import { AppError, parseSlug, slugKey, type VcsHost } from '@pipeline/domain';
import { findReposBySlug, type RepoRow, type RepoWithTenant, tenantIdOf } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/** Context of a host event: the engine, the repo, and that repo's host, which may be queried. */
export type Intake = RepoOnHost;

/** The host that serves a repo; null when this process has no credentials for it. */
export type HostOf = (repo: RepoRow) => VcsHost | null;

/** A repo with its host, which may be queried. */
export interface RepoOnHost {
  engine: Engine;
  repo: RepoRow;
  host: VcsHost;
}

/** A repo in paths and queries of surface B. */
export interface RepoAddress {
  owner: string;
  repo: string;
  /** External id; only needed where several tenants have a repo of that name. */
  tenant?: string | undefined;
}

/**
 * Finds the enabled repo named in a path or query.
 * @throws AppError NOT_FOUND for an unknown or disabled repo, INVALID_INPUT when the tenant must be named.
 */
export async function findRepoAt(engine: Engine, address: RepoAddress): Promise<RepoRow> {
  const { owner, repo: name, tenant } = address;
  const slug = parseSlug(`${owner}/${name}`);
  const all = slug ? await findReposBySlug(engine.store.db, slug) : [];
  const tenantId = tenant === undefined ? null : await tenantIdOf(engine.store.db, tenant);
  const repos = tenant === undefined ? all : all.filter((repo) => repo.tenant_id === tenantId);
  return requireOne(repos, address);
}

/** Finds the repo among those in memory, for when the store is unavailable. @throws AppError as `findRepoAt`. */
export function findRepoAmong(repos: readonly RepoWithTenant[], address: RepoAddress): RepoRow {
  const { owner, repo: name, tenant } = address;
  const slug = parseSlug(`${owner}/${name}`);
  const key = slug ? slugKey(slug) : null;
  const found = repos.filter((repo) => repo.slug_key === key && (tenant === undefined || repo.tenant === tenant));
  return requireOne(found, address);
}

function requireOne([repo, another]: readonly RepoRow[], { owner, repo: name }: RepoAddress): RepoRow {
  if (!repo) throw new AppError('NOT_FOUND', `Repo not found: ${owner}/${name}`);
  if (!another) return repo;
  throw new AppError('INVALID_INPUT', `Several tenants have ${owner}/${name}: set the parameter tenant`);
}
