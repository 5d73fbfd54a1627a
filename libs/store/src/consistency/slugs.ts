import { type Slug, slugKey } from '@pipeline/domain';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { RepoRow } from '../repos/repos.ts';

/** A repo with the external id of its tenant. */
export type RepoWithTenant = RepoRow & { tenant: string };

const enabled = (fleet: Db) =>
  fleet
    .selectFrom('repos as r')
    .modifyFront(fleetNote('ids of findings know a repo by its slug'))
    .innerJoin('tenants as t', 't.id', 'r.tenant_id')
    .selectAll('r')
    .select('t.external_id as tenant')
    .where('r.enabled', '=', true);

/** The enabled repos with that slug; almost always one. */
export const reposWithTenant = (fleet: Db, slug: Slug): Promise<RepoWithTenant[]> =>
  enabled(fleet).where('r.slug_key', '=', slugKey(slug)).execute();

/** All enabled repos, in list order. */
export const enabledReposWithTenant = (fleet: Db): Promise<RepoWithTenant[]> =>
  enabled(fleet).orderBy('r.slug_key').orderBy('r.tenant_id').execute();

/** The slugs, in comparison form, that several enabled repos share: those need their tenant. */
export async function sharedSlugs(fleet: Db): Promise<Set<string>> {
  const rows = await fleet
    .selectFrom('repos')
    .modifyFront(fleetNote('ids of findings must be unique over all tenants'))
    .select('slug_key')
    .where('enabled', '=', true)
    .groupBy('slug_key')
    .having((eb) => eb.fn.countAll(), '>', 1)
    .execute();
  return new Set(rows.map((row) => row.slug_key));
}
