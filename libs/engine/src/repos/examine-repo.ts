import { type DoctorCheck, judgePushProtection, type VcsHost } from '@pipeline/domain';
import type { Admin } from '../context/admin.ts';
import { checkPushProtection } from './push-protection.ts';
import { requireRepo } from './repos.ts';

/** The host of a kind; null without credentials for it. */
export type HostOfKind = (kind: string) => Promise<VcsHost | null>;

/**
 * Checks the setup of a repo on its host. Without credentials for the host it reports the result of the monitor's last
 * check.
 * @throws AppError NOT_FOUND, INVALID_INPUT; what the host's read throws.
 */
export async function examineRepo(
  admin: Admin,
  { slug, org, hostOf }: { slug: string; org: string | null; hostOf: HostOfKind },
): Promise<{ org: string; repo: string; checks: DoctorCheck[] }> {
  const repo = await requireRepo(admin, slug, org);
  const host = await hostOf(repo.vcs_host);
  const { push_restricted: restricted, push_checked_at: at } = repo;
  const check = host
    ? await checkPushProtection(admin.engine, repo, host)
    : at === null
      ? unread(`no credentials for ${repo.vcs_host} are set here, and the monitor has not read it yet`)
      : judgePushProtection(repo.default_branch, { restricted, by: [`as the monitor read it at ${at}`] });
  return { org: repo.org, repo: `${repo.owner}/${repo.name}`, checks: [check] };
}

const unread = (message: string): DoctorCheck => ({ check: 'push-protection', status: 'unknown', message });

/** As `examineRepo`; a failure of the host is reported as an unknown result instead of an error. */
export async function examineAddedRepo(admin: Admin, asked: { slug: string; org: string | null; hostOf: HostOfKind }) {
  try {
    return (await examineRepo(admin, asked)).checks;
  } catch (error) {
    return [unread(`the host did not respond: ${error instanceof Error ? error.message : String(error)}`)];
  }
}
