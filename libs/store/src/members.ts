import type { Role } from '@pipeline/domain';
import type { Db } from './connection.ts';

/** Lets a member reach a repo of the tenant; nothing changes when that was so already. */
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
