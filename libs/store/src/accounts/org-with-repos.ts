import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { jsonList, wireTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { OrgScope } from './org-scope.ts';

export interface ReachableRepo {
  id: number;
  slug: string;
  owner: string;
  name: string;
  defaultBranch: string;
  vcsHost: string;
  enabled: true;
}

export interface OrgRow {
  org: { id: number; slug: string; name: string; createdAt: string };
  repos: ReachableRepo[];
  schemaVersion: string | null;
  now: string;
}

const MAX_REPOS = 10_000;

const org = prepared(
  'org-and-its-repos',
  (_db, p: Params<{ tenantId: number; repoIds: readonly number[] | null }>) => sql<OrgRow>`
    select svc_now() as now,
      (select row_to_json(q) from (
        select t.id, t.external_id as slug, t.name, ${wireTime('t.created_at')} as "createdAt"
        from tenants t where t.id = ${p('tenantId')}) q) as org,
      (select split_part(max(name), '!', 1) from schema_migrations) as "schemaVersion",
      ${jsonList(
        sql`
        select r.id, r.owner || '/' || r.name as slug, r.owner, r.name, r.default_branch as "defaultBranch",
          r.vcs_host as "vcsHost", r.enabled
        from repos r
        where r.tenant_id = ${p('tenantId')} and r.enabled
          and (${p('repoIds')}::bigint[] is null or r.id = any(${p('repoIds')}::bigint[]))
        order by r.slug_key`,
        MAX_REPOS,
      )} as repos`,
);

/** The organisation of a connection and its readable repos, sorted by slug, at most 10,000: one statement. */
export async function findOrgWithRepos(read: Db, { tenantId, repoIds }: OrgScope): Promise<OrgRow> {
  const row = await org.first(read, { tenantId, repoIds });
  if (!row) throw new Error('expected one row from org-and-its-repos');
  return row;
}
