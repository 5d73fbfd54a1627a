import { AppError, DEFAULT_WORKFLOW, formatSlug, type HostRepo } from '@pipeline/domain';
import { type RepoInput, type RepoRow, seedWorkflow, upsertRepo } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { takeSlug } from './repo-identity.ts';

/** The stored repo of a name is not the repository that has the name on the host. */
export class NameTakenError extends Error {}

/**
 * Creates or updates a repo, with the default workflow. Enabling one notifies the intake, which reads its open
 * `svc:enqueue` issues immediately.
 * @param found the state on the host; null = not known. A repo that has this id under another name is renamed.
 * @throws AppError INVALID_INPUT for an invalid slug; NameTakenError when the enabled repo of that name is another
 * repository.
 */
export async function putRepo(
  engine: Engine,
  tenantId: number,
  input: RepoInput,
  found: HostRepo | null = null,
): Promise<RepoRow> {
  if (!input.slug.owner || !input.slug.name) throw new AppError('INVALID_INPUT', 'repo must be owner/name');
  return inTenant(engine, tenantId, async (unit) => {
    if (found && (await takeSlug(unit, found, input.vcsHost))) {
      throw new NameTakenError(`${formatSlug(input.slug)} is another repository on the host than the stored one`);
    }
    const repo = await upsertRepo(unit.tx, tenantId, { ...input, hostId: found?.id ?? null });
    await seedWorkflow(unit.tx, tenantId, repo.id, DEFAULT_WORKFLOW);
    if (repo.enabled) unit.notify('svc_cache');
    return repo;
  });
}
