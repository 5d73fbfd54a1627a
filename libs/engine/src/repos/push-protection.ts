import { judgePushProtection, type PushProtectionCheck, type VcsHost } from '@pipeline/domain';
import { postponeProtectionCheck, type RepoRow, refOf, reposToCheck, savePushProtection } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import type { HostOf } from './repo-address.ts';

/**
 * Reads from the host which restrictions apply to pushes to the repo's default branch, and stores them. @throws what
 * the host's read throws.
 */
export async function checkPushProtection(
  { store }: Engine,
  repo: RepoRow,
  host: VcsHost,
): Promise<PushProtectionCheck> {
  const protection = await host.pushProtectionOf(refOf(repo), repo.default_branch);
  await savePushProtection(store.tenant, repo, protection.restricted);
  return judgePushProtection(repo.default_branch, protection);
}

/** Maximum number of repos per round: a handful of requests to the host. */
const MOST = 20;

interface ProtectionReport {
  onChecked(repo: RepoRow, check: PushProtectionCheck): void;
  onFailed(repo: RepoRow, error: unknown): void;
}

/**
 * Checks the repos that were enabled since the last round, and each other one once a day. A repo whose host fails is
 * retried an hour later and does not affect the others.
 */
export async function checkDueProtections(engine: Engine, hostOf: HostOf, report: ProtectionReport): Promise<void> {
  for (const repo of await reposToCheck(engine.store.fleet, MOST)) {
    const host = hostOf(repo);
    try {
      if (host) report.onChecked(repo, await checkPushProtection(engine, repo, host));
      else await postponeProtectionCheck(engine.store.tenant, repo);
    } catch (error) {
      await postponeProtectionCheck(engine.store.tenant, repo);
      report.onFailed(repo, error);
    }
  }
}
