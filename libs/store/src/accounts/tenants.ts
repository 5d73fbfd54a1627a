import { isStorable, type Role } from '@pipeline/domain';
import type { Db } from '../driver/database.ts';

/**
 * Finds or inserts the tenant with that external id.
 * @returns its numeric id.
 */
export async function ensureTenant(db: Db, externalId: string, name = externalId): Promise<number> {
  const made = await db
    .insertInto('tenants')
    .values({ external_id: externalId, name })
    .onConflict((c) => c.column('external_id').doNothing())
    .returning('id')
    .executeTakeFirst();
  const row =
    made ??
    (await db.selectFrom('tenants').select('id').where('external_id', '=', externalId).executeTakeFirstOrThrow());
  return row.id;
}

export async function insertUser(
  db: Db,
  user: { email: string; name: string; passwordHash: string; tenantId: number; role: Role },
): Promise<number> {
  const row = await db
    .insertInto('users')
    .values({
      email: user.email,
      email_key: user.email.toLowerCase(),
      name: user.name,
      password_hash: user.passwordHash,
    })
    .onConflict((c) => c.column('email_key').doUpdateSet({ password_hash: user.passwordHash, name: user.name }))
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('memberships')
    .values({ tenant_id: user.tenantId, user_id: row.id, role: user.role })
    .onConflict((c) => c.columns(['tenant_id', 'user_id']).doUpdateSet({ role: user.role }))
    .execute();
  return row.id;
}

/** @returns null for an unknown tenant. */
export async function tenantIdOf(db: Db, externalId: string): Promise<number | null> {
  // Such a text is no id, and the store would refuse the query.
  if (!isStorable(externalId)) return null;
  const row = await db.selectFrom('tenants').select('id').where('external_id', '=', externalId).executeTakeFirst();
  return row?.id ?? null;
}
