import { AppError, DEFAULT_WORKFLOW } from '@pipeline/domain';
import { inTransaction, type RepoInput, type RepoRow, seedWorkflow, upsertRepo } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/**
 * Creates or updates a repo, with the default workflow. Enabling one notifies the intake, which reads its open
 * `svc:enqueue` issues immediately.
 * @throws AppError INVALID_INPUT for an invalid slug.
 */
export async function putRepo(engine: Engine, tenantId: number, input: RepoInput): Promise<RepoRow> {
  if (!input.slug.owner || !input.slug.name) throw new AppError('INVALID_INPUT', 'repo must be owner/name');
  const repo = await inTransaction(engine.store.tenant, async (tx) => {
    const row = await upsertRepo(tx, tenantId, input);
    await seedWorkflow(tx, tenantId, row.id, DEFAULT_WORKFLOW);
    return row;
  });
  if (repo.enabled) engine.notify('svc_cache', tenantId);
  return repo;
}
