import { AppError, parseSlug } from '@pipeline/domain';
import { type AnalyticsScope, tenantIdOf } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { findRepoAt } from '../repos/repo-address.ts';

/** The requested scope of figures. */
export interface ScopeQuery {
  /** `owner/name`; none = all repos. */
  repo?: string | undefined;
  /** External id; none = all tenants. */
  tenant?: string | undefined;
}

/**
 * Finds the repo and tenant of a query.
 * @throws AppError INVALID_INPUT for an invalid repo name, or when the tenant must be named; NOT_FOUND for an unknown
 * or disabled repo and for an unknown tenant.
 */
export async function findScope(engine: Engine, { repo, tenant }: ScopeQuery): Promise<AnalyticsScope> {
  if (repo !== undefined) {
    const slug = parseSlug(repo);
    if (!slug) throw new AppError('INVALID_INPUT', 'repo must be owner/name');
    const row = await findRepoAt(engine, { owner: slug.owner, repo: slug.name, tenant });
    return { tenantId: row.tenant_id, repoId: row.id };
  }
  if (tenant === undefined) return { tenantId: null, repoId: null };
  const tenantId = await tenantIdOf(engine.store.db, tenant);
  if (tenantId === null) throw new AppError('NOT_FOUND', `Tenant not found: ${tenant}`);
  return { tenantId, repoId: null };
}
