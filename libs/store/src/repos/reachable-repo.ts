import { parseSlug, slugKey } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { ReadScope } from '../accounts/org-scope.ts';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** Tenant and name of the requested repo, and the repos that may be read (null = all). */
export interface Reach {
  tenantId: number;
  slug: string;
  repoIds: readonly number[] | null;
}

/** @param slug case-insensitive; an invalid name matches no repo. */
export function reachOf({ tenantId, repoIds }: ReadScope, slug: string): Reach {
  const parsed = parseSlug(slug);
  return { tenantId, repoIds, slug: parsed ? slugKey(parsed) : '' };
}

/** The requested repo: no row when it is unknown, disabled, of another tenant or out of scope. */
export const reachableRepo = (p: Params<Reach>): RawBuilder<unknown> => sql`
  select r.id, r.owner, r.name from repos r
  where r.tenant_id = ${p('tenantId')} and r.slug_key = ${p('slug')} and r.enabled
    and (${p('repoIds')}::bigint[] is null or r.id = any(${p('repoIds')}::bigint[]))`;

const reached = prepared(
  'reached-repo',
  (_db, p: Params<Reach>) => sql<{ id: number }>`select repo.id from (${reachableRepo(p)}) repo`,
);

/** The repo that a connection requests by name; undefined when it is out of scope. */
export async function reachedRepo(
  read: Db,
  scope: ReadScope,
  slug: string,
): Promise<{ tenantId: number; repoId: number } | undefined> {
  const row = await reached.first(read, reachOf(scope, slug));
  return row && { tenantId: scope.tenantId, repoId: row.id };
}
