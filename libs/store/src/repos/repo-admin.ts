import { type Slug, slugKey } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { RepoRow } from './repos.ts';

export type OwnedRepo = RepoRow & { org: string };

/** Repos of a slug, or all, enabled or not, with the external id of their tenant. Removed ones are left out. */
export async function reposOfAll(fleet: Db, slug: Slug | null): Promise<OwnedRepo[]> {
  const { rows } = await sql<OwnedRepo>`
    ${fleetNote('who administers the deployment sees all of it')}
    select r.*, t.external_id as org from repos r join tenants t on t.id = r.tenant_id
    where r.removed_at is null and ${slug === null ? sql`true` : sql`r.slug_key = ${slugKey(slug)}`}
    order by t.external_id, r.slug_key`.execute(fleet);
  return rows;
}

/**
 * Push restrictions are read from the host again after a repo was enabled. @returns false when the repo already had
 * that value.
 */
export async function setRepoEnabled(tx: Tx, tenantId: number, repoId: number, enabled: boolean): Promise<boolean> {
  const row = await tx
    .updateTable('repos')
    .set({ enabled, updated_at: svcNow, ...(enabled && { push_checked_at: null }) })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', repoId)
    .where('enabled', '=', !enabled)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Hides a repo from every list and disables it; what refers to it stays. */
export async function markRepoRemoved(tx: Tx, tenantId: number, repoId: number): Promise<void> {
  await tx
    .updateTable('repos')
    .set({ enabled: false, removed_at: svcNow, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', repoId)
    .execute();
}
