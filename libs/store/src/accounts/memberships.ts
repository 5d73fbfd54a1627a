import type { Role } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db, Tx } from '../driver/database.ts';

/** @returns false when the user is a member already. */
export async function insertMembership(tx: Tx, tenantId: number, userId: number, role: Role): Promise<boolean> {
  const row = await tx
    .insertInto('memberships')
    .values({ tenant_id: tenantId, user_id: userId, role })
    .onConflict((c) => c.columns(['tenant_id', 'user_id']).doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function isMember(db: Db, tenantId: number, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('memberships')
    .select('role')
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Those of these users who are members. One probe of the primary key for each. */
export async function membersAmong(db: Db, tenantId: number, userIds: readonly number[]): Promise<Set<number>> {
  const rows = await db
    .selectFrom('memberships')
    .select('user_id')
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', sql<number>`any(${userIds}::bigint[])`)
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** Members with their roles, locked, so that of two owners who leave concurrently one remains. */
export const lockMemberships = (tx: Tx, tenantId: number): Promise<{ user_id: number; role: Role }[]> =>
  tx
    .selectFrom('memberships')
    .select(['user_id', 'role'])
    .where('tenant_id', '=', tenantId)
    .orderBy('user_id')
    .forUpdate()
    .execute() as Promise<{ user_id: number; role: Role }[]>;

export async function setRole(tx: Tx, tenantId: number, userId: number, role: Role): Promise<void> {
  await tx
    .updateTable('memberships')
    .set({ role })
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', userId)
    .execute();
}

/** Removes a member from an organisation, with all grants. */
export async function deleteMembership(tx: Tx, tenantId: number, userId: number): Promise<void> {
  await tx.deleteFrom('memberships').where('tenant_id', '=', tenantId).where('user_id', '=', userId).execute();
}

/** @returns false when the member had no such grant. */
export async function revokeGrant(tx: Tx, tenantId: number, userId: number, repoId: number): Promise<boolean> {
  const row = await tx
    .deleteFrom('repo_grants')
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', userId)
    .where('repo_id', '=', repoId)
    .returning('repo_id')
    .executeTakeFirst();
  return row !== undefined;
}
