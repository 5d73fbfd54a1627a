import type { Role } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

export type UserRow = Selectable<DB['users']>;

/** @returns undefined when a user has that address already, case-insensitively. */
export const insertNewUser = (
  tx: Tx,
  user: { email: string; name: string; passwordHash: string | null },
): Promise<UserRow | undefined> =>
  tx
    .insertInto('users')
    .values({
      email: user.email,
      email_key: user.email.toLowerCase(),
      name: user.name,
      password_hash: user.passwordHash,
    })
    .onConflict((c) => c.column('email_key').doNothing())
    .returningAll()
    .executeTakeFirst();

export const findUser = (db: Db, email: string): Promise<UserRow | undefined> =>
  db.selectFrom('users').selectAll().where('email_key', '=', email.toLowerCase()).executeTakeFirst();

interface UserSummary {
  email: string;
  name: string;
  disabled_at: string | null;
  has_password: boolean;
  created_at: string;
  /** Roles of the user: external id of the organisation -> role. */
  roles: Record<string, Role>;
}

export async function listUsers(fleet: Db): Promise<UserSummary[]> {
  const { rows } = await sql<UserSummary>`
    ${fleetNote('who administers the deployment sees all of it')}
    select u.email, u.name, u.disabled_at, u.password_hash is not null as has_password, u.created_at,
      coalesce((
        select jsonb_object_agg(t.external_id, m.role)
        from memberships m join tenants t on t.id = m.tenant_id where m.user_id = u.id), '{}') as roles
    from users u
    order by u.email_key`.execute(fleet);
  return rows;
}

/** Disables or enables a user. @returns false when the user already had that value. */
export async function setUserDisabled(tx: Tx, userId: number, disabled: boolean): Promise<boolean> {
  const row = await tx
    .updateTable('users')
    .set({ disabled_at: disabled ? svcNow : null })
    .where('id', '=', userId)
    .where('disabled_at', disabled ? 'is' : 'is not', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function setPasswordHash(tx: Tx, userId: number, hash: string): Promise<void> {
  await tx.updateTable('users').set({ password_hash: hash }).where('id', '=', userId).execute();
}

/** Ends all browser sessions of a user. @returns how many. */
export async function deleteSessionsOf(tx: Tx, userId: number): Promise<number> {
  const result = await tx.deleteFrom('user_sessions').where('user_id', '=', userId).executeTakeFirst();
  return Number(result.numDeletedRows);
}
