import { sql } from 'kysely';
import type { OrgScope } from '../accounts/org-scope.ts';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { type Reach, reachableRepo, reachOf } from '../repos/reachable-repo.ts';
import { findingColumns } from './finding-columns.ts';

export interface FindingFilter {
  status: string | null;
  category: string | null;
  severity: string | null;
}

export interface FindingsRow<F> {
  total: number;
  /** One page, newest first. */
  items: F[];
}

type Query = Reach & FindingFilter & { limit: number; offset: number };

const matching = (p: Params<Query>) => sql`
  f.tenant_id = ${p('tenantId')} and f.repo_id = repo.id
  and (${p('status')}::text is null or f.status = ${p('status')})
  and (${p('category')}::text is null or f.category = ${p('category')})
  and (${p('severity')}::text is null or f.severity = ${p('severity')})`;

const page = prepared(
  'page-of-findings',
  (_db, p: Params<Query>) => sql<FindingsRow<unknown>>`
    with repo as (${reachableRepo(p)})
    select (select count(*) from findings f where ${matching(p)}) as total,
      (select coalesce(json_agg(q), '[]') from (
        select ${findingColumns}
        from findings f where ${matching(p)}
        order by f.created_at desc, f.id limit ${p('limit')} offset ${p('offset')}) q) as items
    from repo`,
);

/** Findings of a repo, newest first (index findings_of_repo). @returns undefined for a repo out of scope. */
export const findingsPage = <F>(
  read: Db,
  scope: OrgScope,
  { slug, ...query }: FindingFilter & { slug: string; limit: number; offset: number },
): Promise<FindingsRow<F> | undefined> =>
  page.first(read, { ...reachOf(scope, slug), ...query }) as Promise<FindingsRow<F> | undefined>;
