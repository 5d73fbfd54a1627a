import { type Slug, slugKey } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';

/** An issue by its number, which need not have a row in the store. */
export interface IssuePlace {
  repoId: number;
  number: number;
}

/** Deletes the edge on which `child` waits for `parent`. */
export async function deleteDependency(
  tx: Tx,
  tenantId: number,
  { child, parent }: { child: IssuePlace; parent: IssuePlace },
): Promise<void> {
  await tx
    .deleteFrom('issue_edges')
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'depends_on')
    .where('child_repo_id', '=', child.repoId)
    .where('child_issue_number', '=', child.number)
    .where('parent_repo_id', '=', parent.repoId)
    .where('parent_issue_number', '=', parent.number)
    .execute();
}

/**
 * Resolves the edges to an issue without a record that is closed or missing on the host. @returns whether there were
 * any.
 */
export async function resolveEdgesToHost(
  tx: Tx,
  tenantId: number,
  parent: IssuePlace,
  by: 'closed' | 'missing',
): Promise<boolean> {
  const result = await tx
    .updateTable('issue_edges')
    .set({ active: false, resolved_by: by, resolved_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'depends_on')
    .where('active', '=', true)
    .where('parent_repo_id', '=', parent.repoId)
    .where('parent_issue_number', '=', parent.number)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Ids of a tenant's enabled repos by slug in comparison form. */
export async function repoIdsByKey(db: Db, tenantId: number, slugs: readonly Slug[]): Promise<Map<string, number>> {
  if (slugs.length === 0) return new Map();
  const rows = await db
    .selectFrom('repos')
    .select(['id', 'slug_key'])
    .where('tenant_id', '=', tenantId)
    .where('enabled', '=', true)
    .where('slug_key', 'in', [...new Set(slugs.map(slugKey))])
    .execute();
  return new Map(rows.map((row) => [row.slug_key, row.id]));
}

export interface UnrecordedParent {
  tenant_id: number;
  repo_id: number;
  number: number;
}

/**
 * Parents of active edges that have no record, after `after` in key order. Cost: the active edges (index
 * issue_edges_of_parent) and a probe of the issues for each.
 */
export async function unrecordedParents(
  fleet: Db,
  after: UnrecordedParent | null,
  limit: number,
): Promise<UnrecordedParent[]> {
  const from = after ?? { tenant_id: 0, repo_id: 0, number: 0 };
  const { rows } = await sql<UnrecordedParent>`
    /* fleet: the poller serves every tenant */
    select distinct e.tenant_id, e.parent_repo_id as repo_id, e.parent_issue_number as number
    from issue_edges e
    where e.active and e.kind = 'depends_on'
      and (e.tenant_id, e.parent_repo_id, e.parent_issue_number) > (${from.tenant_id}, ${from.repo_id}, ${from.number})
      and not exists (
        select from issues p
        where p.tenant_id = e.tenant_id and p.repo_id = e.parent_repo_id and p.issue_number = e.parent_issue_number)
    order by 1, 2, 3
    limit ${limit}`.execute(fleet);
  return rows;
}
