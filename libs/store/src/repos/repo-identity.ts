import { type RepoRef, type Slug, slugKey, type UnavailableReason } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { RepoRow } from './repos.ts';

/** A repo on the host; with `hostId` undefined or null it is known by its name alone. */
export const refOf = ({ owner, name, host_id }: Pick<RepoRow, 'owner' | 'name' | 'host_id'>): RepoRef => ({
  owner,
  name,
  hostId: host_id,
});

const onHost = prepared('repos-on-host', (db, p: Params<{ slugKey: string; hostId: number | null }>) =>
  db
    .selectFrom('repos')
    .modifyFront(fleetNote('webhooks know a repo by its id and its slug alone'))
    .select(COLUMNS.repos)
    .where('enabled', '=', sql.lit(true))
    .where((eb) => eb.or([eb('slug_key', '=', p('slugKey')), eb('host_id', '=', p('hostId'))]))
    .orderBy('id'),
);

/**
 * The enabled repos, of all tenants, that have this id on their host or this slug (repos_by_host_id, repos_by_slug).
 */
export const findReposOnHost = (fleet: Db, ref: RepoRef): Promise<RepoRow[]> =>
  onHost.all(fleet, { slugKey: slugKey(ref), hostId: ref.hostId ?? null });

interface Related {
  /** null = no certain repo. */
  repoId: number | null;
  hostId: number;
  slug: Slug;
}

/** A repo of a tenant, with those that have this id on their host or this slug, locked in the order of their ids. */
export const lockRelatedRepos = (tx: Tx, tenantId: number, { repoId, hostId, slug }: Related): Promise<RepoRow[]> =>
  tx
    .selectFrom('repos')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where((eb) =>
      eb.or([
        eb('host_id', '=', hostId),
        eb('slug_key', '=', slugKey(slug)),
        ...(repoId === null ? [] : [eb('id', '=', repoId)]),
      ]),
    )
    .orderBy('id')
    .forUpdate()
    .execute();

interface Identity {
  hostId: number;
  slug: Slug;
  cloneUrl: string;
  unavailable: UnavailableReason | null;
}

/**
 * Stores the identity of a repo on the host. A new slug leaves the old one among the former ones; a new owner has
 * another installation of the app. The clone address follows the host.
 */
export const setRepoIdentity = (tx: Tx, repo: RepoRow, { hostId, slug, cloneUrl, unavailable }: Identity) => {
  const isMoved = slugKey(slug) !== repo.slug_key;
  const isOfOther = slug.owner.toLowerCase() !== repo.owner.toLowerCase();
  return tx
    .updateTable('repos')
    .set({
      owner: slug.owner,
      name: slug.name,
      slug_key: slugKey(slug),
      host_id: hostId,
      clone_url: cloneUrl,
      ...(isMoved && { former_slug_keys: sql<string[]>`array_append(former_slug_keys, ${repo.slug_key})` }),
      ...(isOfOther && { installation_id: null }),
      ...availability(repo, unavailable),
      updated_at: svcNow,
    })
    .where('tenant_id', '=', repo.tenant_id)
    .where('id', '=', repo.id)
    .returningAll()
    .executeTakeFirstOrThrow();
};

/** Stores why a repo cannot be worked on; null = it can. */
export const setRepoUnavailable = (tx: Tx, repo: RepoRow, reason: UnavailableReason | null): Promise<RepoRow> =>
  tx
    .updateTable('repos')
    .set({ ...availability(repo, reason), updated_at: svcNow })
    .where('tenant_id', '=', repo.tenant_id)
    .where('id', '=', repo.id)
    .returningAll()
    .executeTakeFirstOrThrow();

const availability = (repo: RepoRow, reason: UnavailableReason | null) =>
  reason === repo.unavailable ? {} : { unavailable: reason, unavailable_since: reason === null ? null : svcNow };

/** Takes the name from a repo whose name another one has on the host. The new name is that of no repository. */
export async function releaseSlug(tx: Tx, { tenant_id, id, owner, name }: RepoRow): Promise<void> {
  const suffix = `.former-${id}`;
  const released = { owner, name: `${name.slice(0, 100 - suffix.length)}${suffix}` };
  await tx
    .updateTable('repos')
    .set({ name: released.name, slug_key: slugKey(released), updated_at: svcNow })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .execute();
}

/** The repo of a tenant that had this slug before it was renamed or transferred. */
export const repoFormerlyAt = (db: Db, tenantId: number, slug: Slug): Promise<RepoRow | undefined> =>
  db
    .selectFrom('repos')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('removed_at', 'is', null)
    .where(sql<boolean>`${slugKey(slug)} = any(former_slug_keys)`)
    .executeTakeFirst();
