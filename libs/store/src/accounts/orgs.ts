import type { Role } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

export type TenantRow = Selectable<DB['tenants']>;

/** @returns undefined when that id is taken. */
export const insertTenant = (tx: Tx, tenant: { externalId: string; name: string }): Promise<TenantRow | undefined> =>
  tx
    .insertInto('tenants')
    .values({ external_id: tenant.externalId, name: tenant.name })
    .onConflict((c) => c.column('external_id').doNothing())
    .returningAll()
    .executeTakeFirst();

export const findTenant = (db: Db, externalId: string): Promise<TenantRow | undefined> =>
  db.selectFrom('tenants').selectAll().where('external_id', '=', externalId).executeTakeFirst();

interface TenantSummary extends TenantRow {
  members: number;
  repos: number;
  enabled_repos: number;
}

/** All tenants with their sizes, by id. */
export async function listTenants(fleet: Db): Promise<TenantSummary[]> {
  const { rows } = await sql<TenantSummary>`
    ${fleetNote('who administers the deployment sees all of it')}
    select t.*, coalesce(m.n, 0)::int as members, coalesce(r.n, 0)::int as repos, coalesce(r.enabled, 0)::int as enabled_repos
    from tenants t
    left join (select tenant_id, count(*) as n from memberships group by tenant_id) m on m.tenant_id = t.id
    left join (select tenant_id, count(*) as n, count(*) filter (where enabled) as enabled from repos where removed_at is null group by tenant_id) r
      on r.tenant_id = t.id
    order by t.external_id`.execute(fleet);
  return rows;
}

interface MemberRow {
  user_id: number;
  email: string;
  name: string;
  role: Role;
  disabled_at: string | null;
  /** Slugs of the repos that were granted individually. */
  granted: string[];
}

export async function membersOf(db: Db, tenantId: number): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`
    select m.user_id, u.email, u.name, m.role, u.disabled_at, coalesce(g.slugs, '{}') as granted
    from memberships m join users u on u.id = m.user_id
    left join (
      select g.tenant_id, g.user_id, array_agg(r.owner || '/' || r.name order by r.slug_key) as slugs
      from repo_grants g join repos r on r.tenant_id = g.tenant_id and r.id = g.repo_id
      where g.tenant_id = ${tenantId} and r.tenant_id = ${tenantId}
      group by g.tenant_id, g.user_id
    ) g on g.tenant_id = m.tenant_id and g.user_id = m.user_id
    where m.tenant_id = ${tenantId}
    order by u.email_key`.execute(db);
  return rows;
}
