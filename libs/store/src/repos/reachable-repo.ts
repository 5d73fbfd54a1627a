import { parseSlug, slugKey } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { ReadScope } from '../accounts/org-scope.ts';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** Whose repo is read, by which name, and which repos there may be read (null = all). */
export interface Reach {
  tenantId: number;
  slug: string;
  repoIds: readonly number[] | null;
}

/** @param slug in any case; what can be no repo's name names none. */
export function reachOf({ tenantId, repoIds }: ReadScope, slug: string): Reach {
  const parsed = parseSlug(slug);
  return { tenantId, repoIds, slug: parsed ? slugKey(parsed) : '' };
}

/** The one repo that is meant: no row when it is unknown, disabled, of somebody else or out of reach. */
export const reachableRepo = (p: Params<Reach>): RawBuilder<unknown> => sql`
  select r.id, r.owner, r.name from repos r
  where r.tenant_id = ${p('tenantId')} and r.slug_key = ${p('slug')} and r.enabled
    and (${p('repoIds')}::bigint[] is null or r.id = any(${p('repoIds')}::bigint[]))`;

const reached = prepared(
  'reached-repo',
  (_db, p: Params<Reach>) => sql<{ id: number }>`select repo.id from (${reachableRepo(p)}) repo`,
);

/** The one repo that a connection means by a name; undefined when it is out of reach. */
export async function reachedRepo(
  read: Db,
  scope: ReadScope,
  slug: string,
): Promise<{ tenantId: number; repoId: number } | undefined> {
  const row = await reached.first(read, reachOf(scope, slug));
  return row && { tenantId: scope.tenantId, repoId: row.id };
}
