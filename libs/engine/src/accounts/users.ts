import {
  type Db,
  deleteSessionsOf,
  findUser,
  insertNewUser,
  listUsers as readUsers,
  setPasswordHash,
  setUserDisabled,
  type UserRow,
} from '@pipeline/store';
import { type Admin, administer, audit, notFound, refuse } from '../context/admin.ts';
import { requireEmail } from './emails.ts';
import { hashPassword, PASSWORD_LENGTH } from './passwords.ts';

interface NewUser {
  email: string;
  name: string;
  /** null = no one can log in as the user until one is set. */
  password: string | null;
}

/** @throws AppError INVALID_INPUT for an invalid address or password, or an existing address. */
export async function createUser(admin: Admin, { email, name, password }: NewUser) {
  requireEmail(email);
  // Outside the transaction: hashing takes its time on purpose.
  const passwordHash = password === null ? null : await hashed(password);
  return administer(admin, async (tx) => {
    const row = await insertNewUser(tx, { email, name, passwordHash });
    if (!row) return refuse(`user ${email} already exists`);
    await audit(tx, admin, { action: 'user-create', subject: `user ${email}`, details: { name } });
    return { email: row.email, name: row.name, disabled: false, hasPassword: password !== null };
  });
}

export async function listUsers({ engine }: Admin) {
  const rows = await readUsers(engine.store.db);
  return rows.map(({ email, name, disabled_at, has_password, created_at, roles }) => ({
    email,
    name,
    disabled: disabled_at !== null,
    hasPassword: has_password,
    createdAt: created_at,
    roles,
  }));
}

/**
 * Disables or enables a user. A disabled user's connections lose access with the next request, and the sessions end.
 * After enabling, the user must log in again, and connections that were not revoked work again.
 * @throws AppError NOT_FOUND.
 */
export function disableUser(admin: Admin, email: string, disabled: boolean) {
  return administer(admin, async (tx) => {
    const user = await requireUser(tx, email);
    const changed = await setUserDisabled(tx, user.id, disabled);
    const sessions = disabled ? await deleteSessionsOf(tx, user.id) : 0;
    const action = disabled ? 'user-disable' : 'user-enable';
    if (changed) await audit(tx, admin, { action, subject: `user ${user.email}` });
    return { email: user.email, disabled, changed, sessionsEnded: sessions };
  });
}

/**
 * Sets a user's password and ends all sessions, because the old password may be known to others.
 * @throws AppError NOT_FOUND; INVALID_INPUT for an invalid password.
 */
export async function setPassword(admin: Admin, email: string, password: string) {
  const hash = await hashed(password);
  return administer(admin, async (tx) => {
    const user = await requireUser(tx, email);
    await setPasswordHash(tx, user.id, hash);
    const sessionsEnded = await deleteSessionsOf(tx, user.id);
    await audit(tx, admin, { action: 'user-set-password', subject: `user ${user.email}` });
    return { email: user.email, sessionsEnded };
  });
}

/** @throws AppError NOT_FOUND. */
export const requireUser = async (db: Db, email: string): Promise<UserRow> =>
  (await findUser(db, email)) ?? notFound(`there is no user ${email}; pipeline admin user list shows all`);

async function hashed(password: string): Promise<string> {
  const { min, max } = PASSWORD_LENGTH;
  const { length } = password;
  if (length < min || length > max) refuse(`password must have ${min} to ${max} characters, got ${length}`);
  return hashPassword(password);
}
