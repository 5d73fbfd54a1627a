import { type DoctorCheck, judgePushProtection, requireSlug, type VcsHost } from '@pipeline/domain';
import { countIssuesByState, type OwnedRepo, reposOfAll, setRepoEnabled } from '@pipeline/store';
import { requireOrg } from '../accounts/orgs.ts';
import { type Admin, notFound, recordRepoDeed, refuse } from '../context/admin.ts';
import { inTenant } from '../context/context.ts';
import { checkPushProtection } from './push-protection.ts';

const shown = (repo: OwnedRepo) => {
  const { org, owner, name, enabled, vcs_host, default_branch, pool_size, push_restricted, created_at } = repo;
  return {
    org,
    repo: `${owner}/${name}`,
    enabled,
    host: vcs_host,
    branch: default_branch,
    poolSize: pool_size,
    /** Whether pushes to the branch are restricted on the host; null = not known. */
    pushRestricted: push_restricted,
    createdAt: created_at,
  };
};

/** Repos known to the pipeline, of one organisation or all. @throws AppError NOT_FOUND for an unknown organisation. */
export async function listRepos({ engine }: Admin, orgId: string | null) {
  if (orgId !== null) await requireOrg(engine.store.tenant, orgId);
  const repos = await reposOfAll(engine.store.fleet, null);
  return repos.filter(({ org }) => orgId === null || org === orgId).map(shown);
}

/**
 * Enables or disables a repo. A disabled one is not polled or shown, and its webhooks are dropped. Issues in progress
 * are completed; `underWay` is their number. Enabling notifies the intake, which reads the open issues with an intake
 * request immediately.
 * @throws AppError NOT_FOUND, INVALID_INPUT.
 */
export async function enableRepo(
  admin: Admin,
  slug: string,
  { org, enabled }: { org: string | null; enabled: boolean },
) {
  const repo = await requireRepo(admin, slug, org);
  return inTenant(admin.engine, repo.tenant_id, async (unit) => {
    const changed = await setRepoEnabled(unit.tx, repo.tenant_id, repo.id, enabled);
    if (changed) recordRepoDeed(unit, admin, repo, { action: enabled ? 'repo-enable' : 'repo-disable' });
    unit.notify('svc_cache');
    const standing = await countIssuesByState(unit.tx, repo.tenant_id, repo.id);
    const underWay = Object.values(standing).reduce((sum, count) => sum + count, 0);
    return { ...shown({ ...repo, enabled }), changed, underWay };
  });
}

/** The host of a repo by its kind; null without credentials for it. */
type HostOfKind = (kind: string) => Promise<VcsHost | null>;

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

/**
 * The repo with that slug, enabled or not.
 * @param org needed only where several organisations have the slug.
 * @throws AppError INVALID_INPUT for an invalid or ambiguous slug; NOT_FOUND.
 */
export async function requireRepo({ engine }: Admin, slug: string, org: string | null): Promise<OwnedRepo> {
  const all = await reposOfAll(engine.store.fleet, requireSlug(slug));
  const repos = all.filter((repo) => org === null || repo.org === org);
  const [first, ...others] = repos;
  if (first && others.length === 0) return first;
  if (!first) return notFound(`there is no repo ${slug}${org ? ` of ${org}` : ''}; pipeline admin repo list shows all`);
  return refuse(`${slug} is of ${repos.map((repo) => repo.org).join(' and ')}: use --org to select one`);
}
