import type { Role } from '@pipeline/domain';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

/** Grants a member access to a repo of the tenant; does nothing if it exists. */
export async function grantRepo(db: Db, tenantId: number, userId: number, repoId: number): Promise<void> {
  await db
    .insertInto('repo_grants')
    .values({ tenant_id: tenantId, user_id: userId, repo_id: repoId })
    .onConflict((c) => c.columns(['tenant_id', 'user_id', 'repo_id']).doNothing())
    .execute();
}

export interface Organisation {
  tenantId: number;
  externalId: string;
  name: string;
  role: Role;
}

/** The organisations that a user is a member of, by name. A fleet query: they may be on any node. */
export async function organisationsOf(fleet: Db, userId: number): Promise<Organisation[]> {
  return fleet
    .selectFrom('memberships as m')
    .modifyFront(fleetNote('a user belongs to several tenants'))
    .innerJoin('tenants as o', 'o.id', 'm.tenant_id')
    .select(['o.id as tenantId', 'o.external_id as externalId', 'o.name', 'm.role'])
    .where('m.user_id', '=', userId)
    .orderBy('o.name')
    .orderBy('o.id')
    .execute();
}
