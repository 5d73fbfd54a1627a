import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { Account } from './user-sessions.ts';

/** An account at an identity provider. */
export interface ExternalIdentity {
  issuer: string;
  /** Id of the account at the provider: never reused there, unlike its name and address. */
  subject: string;
  /** Name of the account at the provider, for display. */
  name: string;
}

/** Links an identity to a user. @returns false when it is linked already, to this user or another one. */
export async function insertIdentity(tx: Tx, userId: number, identity: ExternalIdentity): Promise<boolean> {
  const row = await tx
    .insertInto('user_identities')
    .values({ ...identity, user_id: userId })
    .onConflict((c) => c.columns(['issuer', 'subject']).doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** The user that an identity is linked to. */
export async function userOfIdentity(
  db: Db,
  { issuer, subject }: Omit<ExternalIdentity, 'name'>,
): Promise<number | null> {
  const row = await db
    .selectFrom('user_identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.user_id ?? null;
}

/**
 * Records a login by an identity. One statement, by primary key.
 * @returns the account that it is linked to; null for an identity that is not linked, and for a disabled user.
 */
export async function recordIdentityLogin(
  db: Db,
  { issuer, subject, name }: ExternalIdentity,
): Promise<Account | null> {
  const row = await db
    .updateTable('user_identities as i')
    .from('users as u')
    .set({ last_login_at: svcNow, name })
    .whereRef('u.id', '=', 'i.user_id')
    .where('i.issuer', '=', issuer)
    .where('i.subject', '=', subject)
    .where('u.disabled_at', 'is', null)
    .returning(['u.id', 'u.email', 'u.name'])
    .executeTakeFirst();
  return row ?? null;
}

/** A way to log in. */
export interface IdentityEntry extends ExternalIdentity {
  createdAt: string;
  lastLoginAt: string | null;
}

/** The identities of a user, oldest first. */
export const identitiesOf = (db: Db, userId: number): Promise<IdentityEntry[]> =>
  db
    .selectFrom('user_identities')
    .select(['issuer', 'subject', 'name', 'created_at as createdAt', 'last_login_at as lastLoginAt'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('issuer')
    .orderBy('subject')
    .execute();

/** The identities of all users, by email address. */
export const listIdentities = (fleet: Db, limit: number): Promise<(IdentityEntry & { email: string })[]> =>
  fleet
    .selectFrom('user_identities as i')
    .modifyFront(fleetNote('who administers the deployment sees all of it'))
    .innerJoin('users as u', 'u.id', 'i.user_id')
    .select(['u.email', 'i.issuer', 'i.subject', 'i.name'])
    .select(['i.created_at as createdAt', 'i.last_login_at as lastLoginAt'])
    .orderBy('u.email_key')
    .orderBy('i.issuer')
    .orderBy('i.subject')
    .limit(limit)
    .execute();

/** Removes an identity of a user. @returns false when the user has no such identity. */
export async function deleteIdentity(
  tx: Tx,
  userId: number,
  { issuer, subject }: Omit<ExternalIdentity, 'name'>,
): Promise<boolean> {
  const row = await tx
    .deleteFrom('user_identities')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('user_id', '=', userId)
    .returning('user_id')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Locks a user against concurrent changes of the ways to log in.
 * @returns whether the user has a password, and how many identities; undefined for an unknown user.
 */
export async function lockLogins(
  tx: Tx,
  userId: number,
): Promise<{ email: string; hasPassword: boolean; identities: number } | undefined> {
  // Not the row: the hosted API may not change users, so it cannot lock them.
  await sql`select pg_advisory_xact_lock(hashtextextended('pipeline.logins', ${userId}))`.execute(tx);
  const user = await tx
    .selectFrom('users')
    .select(['email', 'password_hash'])
    .where('id', '=', userId)
    .executeTakeFirst();
  if (!user) return undefined;
  const identities = await identitiesOf(tx, userId);
  return { email: user.email, hasPassword: user.password_hash !== null, identities: identities.length };
}
