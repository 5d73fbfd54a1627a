import { sql } from 'kysely';
import { svcNowPlus } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';

/** A user account that can log in. */
export interface Account {
  id: number;
  email: string;
  name: string;
}

/** The account with this login name and its password hash; null for an unknown or disabled one. */
export async function findAccount(db: Db, email: string): Promise<(Account & { passwordHash: string | null }) | null> {
  const row = await db
    .selectFrom('users')
    .select(['id', 'email', 'name', 'password_hash as passwordHash'])
    .where('email_key', '=', email.trim().toLowerCase())
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

/** Begins a session. @param hash SHA-256 of the cookie's value. */
export async function insertSession(db: Db, hash: Buffer, userId: number, ttlMs: number): Promise<void> {
  await db
    .insertInto('user_sessions')
    .values({ hash, user_id: userId, expires_at: svcNowPlus(ttlMs) })
    .execute();
}

/** The user of a session; null when it expired, was ended, or its user is disabled. */
export async function findSessionAccount(db: Db, hash: Buffer): Promise<Account | null> {
  const row = await db
    .selectFrom('user_sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['u.id', 'u.email', 'u.name'])
    .where('s.hash', '=', hash)
    .where('s.expires_at', '>', sql<string>`svc_now()`)
    .where('u.disabled_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

/** Ends a session. @param userId only if it is this user's. @returns the email of its user; null without one. */
export async function deleteSession(db: Db, hash: Buffer, userId: number | null = null): Promise<string | null> {
  const row = await db
    .deleteFrom('user_sessions as s')
    .using('users as u')
    .whereRef('u.id', '=', 's.user_id')
    .where('s.hash', '=', hash)
    .$if(userId !== null, (remove) => remove.where('s.user_id', '=', userId))
    .returning('u.email')
    .executeTakeFirst();
  return row?.email ?? null;
}

/** A browser in which a user is logged in. */
export interface SessionEntry {
  /** SHA-256 of the cookie's value, as hexadecimal text: it names the session and cannot be used as the cookie. */
  id: string;
  createdAt: string;
  expiresAt: string;
}

const MAX_SESSIONS = 100;

/** The newest sessions of a user that have not expired. */
export async function sessionsOf(db: Db, userId: number): Promise<SessionEntry[]> {
  return db
    .selectFrom('user_sessions')
    .select([sql<string>`encode(hash, 'hex')`.as('id'), 'created_at as createdAt', 'expires_at as expiresAt'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<string>`svc_now()`)
    .orderBy('created_at', 'desc')
    .orderBy('hash')
    .limit(MAX_SESSIONS)
    .execute();
}
