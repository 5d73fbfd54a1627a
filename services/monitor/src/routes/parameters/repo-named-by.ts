import { type Engine, findRepoAt } from '@pipeline/engine';

/**
 * The repo that a query names.
 * @param slug owner/repo, checked by the contract.
 * @throws AppError NOT_FOUND for an unknown or disabled repo, INVALID_INPUT when the tenant must be named.
 */
export async function repoNamedBy(
  engine: Engine,
  { slug, tenant }: { slug: string; tenant?: string | undefined },
): Promise<{ tenantId: number; repoId: number }> {
  const [owner = '', repo = ''] = slug.split('/');
  const row = await findRepoAt(engine, { owner, repo, tenant });
  return { tenantId: row.tenant_id, repoId: row.id };
}
