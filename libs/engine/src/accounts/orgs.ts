import { findTenant, insertTenant, listTenants, membersOf, reposOfAll, type TenantRow } from '@pipeline/store';
import { type Admin, administer, audit, notFound, refuse } from '../context/admin.ts';

/** Ids are used in addresses and configurations. */
const ORG_ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;

interface Org {
  id: string;
  name: string;
  createdAt: string;
}

const shown = ({ external_id, name, created_at }: TenantRow): Org => ({ id: external_id, name, createdAt: created_at });

/** @throws AppError INVALID_INPUT for an invalid or existing id. */
export async function createOrg(admin: Admin, { id, name }: { id: string; name: string }): Promise<Org> {
  if (!ORG_ID.test(id)) refuse(`id must be at most 63 lower-case letters, digits, '.', '_' and '-', got "${id}"`);
  return administer(admin, async (tx) => {
    const row = (await insertTenant(tx, { externalId: id, name })) ?? refuse(`organisation ${id} already exists`);
    await audit(tx, admin, { action: 'org-create', subject: `org ${id}`, details: { name } });
    return shown(row);
  });
}

export async function listOrgs({ engine }: Admin) {
  const rows = await listTenants(engine.store.db);
  return rows.map((row) => ({
    ...shown(row),
    members: row.members,
    repos: row.repos,
    enabledRepos: row.enabled_repos,
  }));
}

/** An organisation with its members and repos. @throws AppError NOT_FOUND. */
export async function showOrg({ engine }: Admin, id: string) {
  const org = await requireOrg(engine.store.db, id);
  const members = await membersOf(engine.store.db, org.id);
  const repos = (await reposOfAll(engine.store.db, null)).filter((repo) => repo.tenant_id === org.id);
  return {
    ...shown(org),
    members: members.map(({ email, name, role, disabled_at, granted }) => ({
      email,
      name,
      role,
      disabled: disabled_at !== null,
      granted,
    })),
    repos: repos.map(({ owner, name, enabled }) => ({ repo: `${owner}/${name}`, enabled })),
  };
}

/** @throws AppError NOT_FOUND. */
export const requireOrg = async (db: Parameters<typeof findTenant>[0], id: string): Promise<TenantRow> =>
  (await findTenant(db, id)) ?? notFound(`there is no organisation ${id}; pipeline admin org list shows all`);
