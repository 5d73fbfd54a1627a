import { requireSlug } from '@pipeline/domain';
import {
  countIssuesByState,
  markRepoRemoved,
  type OwnedRepo,
  refOf,
  reposOfAll,
  setRepoEnabled,
  type Tx,
} from '@pipeline/store';
import { requireOrg } from '../accounts/orgs.ts';
import { type Admin, notFound, recordRepoAction, refuse } from '../context/admin.ts';
import { inTenant } from '../context/context.ts';
import { type HostOfKind, requireReviewGate } from './review-gate.ts';

/** A repo as administrators see it. */
export const shownRepo = (repo: OwnedRepo) => {
  const {
    org,
    owner,
    name,
    enabled,
    vcs_host,
    default_branch,
    pool_size,
    setup_command,
    checks_policy,
    merge_method,
    merge_train,
    max_rounds,
    compare,
    push_restricted,
    unavailable,
    created_at,
  } = repo;
  return {
    org,
    repo: `${owner}/${name}`,
    enabled,
    host: vcs_host,
    branch: default_branch,
    poolSize: pool_size,
    setupCommand: setup_command,
    checkPolicy: checks_policy,
    mergeMethod: merge_method,
    mergeTrain: merge_train,
    maxRounds: max_rounds,
    compare,
    /** True = pushes to the branch are restricted on the host; null = not known. */
    pushRestricted: push_restricted,
    /** Why it cannot be worked on; null = it can. */
    unavailable,
    createdAt: created_at,
  };
};

/** Repos known to the pipeline, of one organisation or all. @throws AppError NOT_FOUND for an unknown organisation. */
export async function listRepos({ engine }: Admin, orgId: string | null) {
  if (orgId !== null) await requireOrg(engine.store.db, orgId);
  const repos = await reposOfAll(engine.store.db, null);
  return repos.filter(({ org }) => orgId === null || org === orgId).map(shownRepo);
}

/**
 * Enables or disables a repo. A disabled one is not polled or shown, and its webhooks are dropped. Issues in progress
 * are completed; `underWay` is their number. Enabling notifies the intake, which reads the open issues with an intake
 * request immediately.
 * @param gateOf finds the host whose review gate a repo needs to be enabled; null = it may lack the gate.
 * @throws AppError NOT_FOUND; INVALID_INPUT, also without the gate.
 */
export async function enableRepo(
  admin: Admin,
  slug: string,
  { org, enabled, gateOf }: { org: string | null; enabled: boolean; gateOf: HostOfKind | null },
) {
  const repo = await requireRepo(admin, slug, org);
  if (enabled && !repo.enabled && gateOf !== null) {
    const branch = { slug: refOf(repo), branch: repo.default_branch, known: repo };
    await requireReviewGate(admin, branch, await gateOf(repo.vcs_host));
  }
  return inTenant(admin.engine, repo.tenant_id, async (unit) => {
    const changed = await setRepoEnabled(unit.tx, repo.tenant_id, repo.id, enabled);
    if (changed) recordRepoAction(unit, admin, repo, { action: enabled ? 'repo-enable' : 'repo-disable' });
    unit.notify('svc_cache');
    const underWay = await countOpenIssues(unit.tx, repo);
    return { ...shownRepo({ ...repo, enabled }), changed, underWay };
  });
}

/**
 * Removes a repo from the pipeline: it is disabled and in no list any more. Its history is kept, and adding the repo
 * again continues it.
 * @throws AppError NOT_FOUND, INVALID_INPUT; INVALID_INPUT while issues are in progress.
 */
export async function removeRepo(admin: Admin, slug: string, { org }: { org: string | null }) {
  const repo = await requireRepo(admin, slug, org);
  return inTenant(admin.engine, repo.tenant_id, async (unit) => {
    await markRepoRemoved(unit.tx, repo.tenant_id, repo.id);
    const underWay = await countOpenIssues(unit.tx, repo);
    if (underWay > 0) {
      const issues = underWay === 1 ? '1 issue is' : `${underWay} issues are`;
      refuse(
        `${issues} in progress in ${repo.owner}/${repo.name}: disable the repo and wait until they are done, or cancel them`,
      );
    }
    recordRepoAction(unit, admin, repo, { action: 'repo-remove' });
    unit.notify('svc_cache');
    return { org: repo.org, repo: `${repo.owner}/${repo.name}`, removed: true as const };
  });
}

async function countOpenIssues(tx: Tx, repo: OwnedRepo): Promise<number> {
  const byState = await countIssuesByState(tx, repo.tenant_id, repo.id);
  return Object.values(byState).reduce((sum, count) => sum + count, 0);
}

/**
 * The repo with that slug, enabled or not.
 * @param org needed only where several organisations have the slug.
 * @throws AppError INVALID_INPUT for an invalid or ambiguous slug; NOT_FOUND.
 */
export async function requireRepo({ engine }: Admin, slug: string, org: string | null): Promise<OwnedRepo> {
  const all = await reposOfAll(engine.store.db, requireSlug(slug));
  const repos = all.filter((repo) => org === null || repo.org === org);
  const [first, ...others] = repos;
  if (first && others.length === 0) return first;
  if (!first) return notFound(`there is no repo ${slug}${org ? ` of ${org}` : ''}; pipeline repo list shows all`);
  return refuse(`${slug} is of ${repos.map((repo) => repo.org).join(' and ')}: use --org to select one`);
}
