import { AppError, DEFAULT_WORKFLOW } from '@pipeline/domain';
import { inTransaction, type RepoInput, type RepoRow, seedWorkflow, upsertRepo } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/**
 * Makes a repo known, with the default workflow, or updates it. Enabling one rings the intake, which reads its open
 * `svc:enqueue` issues at once.
 * @throws AppError INVALID_INPUT when the slug is not one.
 */
export async function putRepo(engine: Engine, tenantId: number, input: RepoInput): Promise<RepoRow> {
  if (!input.slug.owner || !input.slug.name) throw new AppError('INVALID_INPUT', 'repo must be owner/name');
  const repo = await inTransaction(engine.store.tenant, async (tx) => {
    const row = await upsertRepo(tx, tenantId, input);
    await seedWorkflow(tx, tenantId, row.id, DEFAULT_WORKFLOW);
    return row;
  });
  if (repo.enabled) engine.ring('svc_cache', tenantId);
  return repo;
}
