import {
  AppError,
  formatSlug,
  permissionsFor,
  type RepoAccess,
  type RepoAccessIssuer,
  type TaskType,
} from '@pipeline/domain';
import { type RepoRow, refOf, repoById } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import type { ClaimToken } from './claim-types.ts';
import { withClaim } from './with-claim.ts';

/** Issues credentials for the repos of a kind of host; null = not configured. */
export type IssuerOf = (repo: RepoRow) => RepoAccessIssuer | null;

interface TaskAccess extends RepoAccess {
  repo: string;
  cloneUrl: string;
}

/**
 * Git credentials for the holder of a claim: for the repo of its task only, with the permissions of that task type. The
 * claim is checked first; the host is queried after that transaction, never inside it.
 * @throws AppError CLAIM_LOST, TASK_CANCELLED, CREDENTIALS_UNAVAILABLE; and what the issuer throws.
 */
export async function accessForTask(engine: Engine, token: ClaimToken, issuerOf: IssuerOf): Promise<TaskAccess> {
  const { repo, taskType } = await withClaim(engine, token, async (unit, { run }) => ({
    repo: await repoById(unit.tx, unit.tenantId, run.repo_id),
    taskType: run.task_type as TaskType,
  }));
  const slug = formatSlug(repo);
  const issuer = issuerOf(repo);
  if (!issuer) {
    const why = `No app is configured for the host of ${slug} (${repo.vcs_host})`;
    throw new AppError('CREDENTIALS_UNAVAILABLE', `${why}: use the git credentials of the worker machine`);
  }
  const { installation_id: installationId } = repo;
  const request = { repo: refOf(repo), installationId, permissions: permissionsFor(taskType) };
  return { ...(await issuer.accessTo(request)), repo: slug, cloneUrl: repo.clone_url };
}
