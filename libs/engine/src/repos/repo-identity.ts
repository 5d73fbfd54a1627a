import { formatSlug, type HostRepo, type RepoRef, slugKey, type UnavailableReason } from '@pipeline/domain';
import {
  lockRelatedRepos,
  type RepoRow,
  refOf,
  releaseSlug,
  setRepoIdentity,
  setRepoUnavailable,
} from '@pipeline/store';
import { inTenant, type TransactionContext } from '../context/context.ts';
import { ENGINE } from '../context/issue-context.ts';
import type { RepoOnHost } from './repo-address.ts';

/**
 * Reads from the host what a repo is called now and whether it can be worked on, and stores it: a repo that was renamed
 * or transferred gets its new name, one that is archived, out of reach or replaced is not worked on until it is
 * available again. Without a change nothing is written. Cost: one request; two when the repo is out of reach.
 * @returns the repo as it is stored now. @throws what the host's read throws.
 */
export async function confirmRepo({ engine, repo, host }: RepoOnHost): Promise<RepoRow> {
  const found = await host.getRepo(refOf(repo));
  if (found)
    return isAsStored(repo, found) ? repo : inTenant(engine, repo.tenant_id, (unit) => adopt(unit, repo, found));
  const reason = await whyMissing(host, repo);
  if (reason === repo.unavailable) return repo;
  return inTenant(engine, repo.tenant_id, (unit) => changeAvailability(unit, repo, reason));
}

const isAsStored = (repo: RepoRow, found: FoundRepo): boolean =>
  repo.host_id === found.id &&
  formatSlug(repo) === formatSlug(found) &&
  repo.unavailable === (found.archived ? 'archived' : null);

async function whyMissing(host: RepoOnHost['host'], { owner, name, host_id }: RepoRow): Promise<UnavailableReason> {
  if (host_id === null) return 'missing';
  const other = await host.getRepo({ owner, name, hostId: null });
  return other && other.id !== host_id ? 'replaced' : 'missing';
}

/** Stored fields of a repository on the host. */
type FoundRepo = Pick<HostRepo, 'id' | 'owner' | 'name' | 'cloneUrl' | 'archived'>;

async function adopt(unit: TransactionContext, { id }: RepoRow, found: FoundRepo): Promise<RepoRow> {
  const related = await lockRelatedRepos(unit.tx, unit.tenantId, { repoId: id, hostId: found.id, slug: found });
  const repo = related.find((one) => one.id === id);
  if (!repo) throw new Error(`tenant ${unit.tenantId} has no repo ${id}`);
  return settleIdentity(unit, repo, { found, others: related.filter((one) => one.id !== id) });
}

interface Finding {
  found: FoundRepo;
  /** Repos of the tenant with the same id on the host or with the name that it has there; locked. */
  others: readonly RepoRow[];
}

async function settleIdentity(unit: TransactionContext, repo: RepoRow, { found, others }: Finding): Promise<RepoRow> {
  const holder = others.find((other) => other.slug_key === slugKey(found));
  // A holder without an id is known by its name alone, which is that of this very repository.
  const isSame = holder?.vcs_host === repo.vcs_host && (holder.host_id === null || holder.host_id === found.id);
  if (holder?.enabled && isSame) return changeAvailability(unit, repo, 'duplicate');
  if (holder) await releaseSlug(unit.tx, holder);
  const unavailable = found.archived ? 'archived' : null;
  const { owner, name, cloneUrl } = found;
  const saved = await setRepoIdentity(unit.tx, repo, {
    hostId: found.id,
    slug: { owner, name },
    cloneUrl,
    unavailable,
  });
  if (slugKey(found) !== repo.slug_key) {
    record(unit, saved, 'repo_moved', { from: formatSlug(repo), to: formatSlug(saved), hostId: found.id });
  }
  announce(unit, repo, saved);
  return saved;
}

async function changeAvailability(
  unit: TransactionContext,
  repo: RepoRow,
  reason: UnavailableReason | null,
): Promise<RepoRow> {
  const saved = await setRepoUnavailable(unit.tx, repo, reason);
  announce(unit, repo, saved);
  return saved;
}

function announce(unit: TransactionContext, before: RepoRow, { unavailable, ...saved }: RepoRow): void {
  unit.notify('svc_cache');
  if (before.unavailable === unavailable) return;
  if (unavailable !== null) record(unit, saved, 'repo_unavailable', { reason: unavailable });
  else {
    record(unit, saved, 'repo_available', { was: before.unavailable });
    unit.notify('svc_tasks');
    unit.notify('svc_projections');
  }
}

function record(
  unit: TransactionContext,
  { id }: Pick<RepoRow, 'id'>,
  eventType: string,
  payload: Record<string, unknown>,
): void {
  const event = { repoId: id, issueId: null, issueNumber: null, eventType, agent: ENGINE.type, payload };
  unit.records.pipelineEvents.push(event);
}

/**
 * Makes a name free for the repository that has it on the host: the repo of the tenant with that id takes the name, and
 * a disabled or removed repo with another id leaves it. Runs before the repo is added or updated by its name.
 * @returns the enabled repo that keeps the name although it is another repository; null when the name is free.
 */
export async function takeSlug(unit: TransactionContext, found: FoundRepo, vcsHost: string): Promise<RepoRow | null> {
  const related = await lockRelatedRepos(unit.tx, unit.tenantId, { repoId: null, hostId: found.id, slug: found });
  const holder = related.find(({ slug_key }) => slug_key === slugKey(found));
  if (holder && (holder.host_id === null || holder.host_id === found.id)) return null;
  const known = related.filter((repo) => repo.host_id === found.id && repo.vcs_host === vcsHost);
  const own = known.find(({ enabled }) => enabled) ?? known[0];
  if (own) await settleIdentity(unit, own, { found, others: related.filter(({ id }) => id !== own.id) });
  else if (holder?.enabled) return holder;
  else if (holder) await releaseSlug(unit.tx, holder);
  return null;
}

/**
 * The repo that an event is about, as it is stored now; null when the event is about another repository. A repo that
 * the event names and of which nothing is stored is read from the host first.
 */
export async function repoOfEvent(known: RepoOnHost, { hostId = null, ...slug }: RepoRef): Promise<RepoRow | null> {
  const { repo } = known;
  if (repo.unavailable === 'duplicate') return null;
  const isNamed = repo.slug_key === slugKey(slug);
  if (hostId === null || repo.host_id === null) return isNamed ? repo : null;
  if (repo.host_id !== hostId) return null;
  if (isNamed || repo.former_slug_keys.includes(slugKey(slug))) return repo;
  const current = await confirmRepo(known);
  // Two hosts number their repositories independently.
  return current.slug_key === slugKey(slug) ? current : null;
}
