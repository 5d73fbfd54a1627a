import { displayText } from '@pipeline/domain';
import {
  type Account,
  deleteIdentity,
  deleteSessionsOf,
  type ExternalIdentity,
  identitiesOf,
  insertAuditEntry,
  insertIdentity,
  inTransaction,
  lockLogins,
  listIdentities as readIdentities,
  type Store,
  type Tx,
  userOfIdentity,
} from '@pipeline/store';
import { type Admin, administer, audit, notFound, refuse } from '../context/admin.ts';
import { requireUser } from './users.ts';

const MOST = 10_000;
const MAX_ISSUER = 500;
/** OpenID Connect Core, 2: a subject has at most 255 ASCII characters. */
const SUBJECT = /^[\x21-\x7e]{1,255}$/;
const MAX_NAME = 100;
/** Identities of one user. */
const MAX_IDENTITIES = 20;

type IdentityKey = Omit<ExternalIdentity, 'name'>;

/** Actor that is recorded in the audit log. */
interface Actor {
  type: 'operator' | 'user';
  id: string;
  reason: string | null;
}

interface Link {
  userId: number;
  identity: ExternalIdentity;
  actor: Actor;
}

/** Cleans the name of an identity for pages, the audit log and logs. @returns null for an unusable issuer or subject. */
export function cleanIdentity({ issuer, subject, name }: ExternalIdentity): ExternalIdentity | null {
  if (issuer.length > MAX_ISSUER || !URL.canParse(issuer) || !SUBJECT.test(subject)) return null;
  return { issuer, subject, name: displayText(name, MAX_NAME) || subject };
}

/**
 * Links an identity to a user in the transaction of the caller, with an audit entry. The caller has authenticated the user,
 * or is an administrator: an equal email address alone is no reason to link.
 * @returns false when it is linked to this user already.
 * @throws AppError INVALID_INPUT when it is linked to another user, when the user has too many, or for an invalid
 * identity; NOT_FOUND for an unknown user.
 */
export async function linkIdentity(tx: Tx, { userId, identity, actor }: Link): Promise<boolean> {
  const cleaned =
    cleanIdentity(identity) ?? refuse('the issuer must be a URL, the subject 1 to 255 visible ASCII characters');
  const user = (await lockLogins(tx, userId)) ?? notFound('there is no such user');
  if (user.identities >= MAX_IDENTITIES)
    refuse(`${user.email} has ${MAX_IDENTITIES} linked logins already; remove one`);
  if (!(await insertIdentity(tx, userId, cleaned))) {
    if ((await userOfIdentity(tx, cleaned)) === userId) return false;
    refuse('this login is linked to another user; unlink it there first');
  }
  await record(tx, actor, { action: 'identity-link', email: user.email, ...cleaned });
  return true;
}

/** Links an identity to the user who has just proved to own both. @throws AppError as `linkIdentity`. */
export const linkOwnIdentity = (store: Store, { id, email }: Account, identity: ExternalIdentity): Promise<boolean> =>
  inTransaction(store.db, (tx) =>
    linkIdentity(tx, { userId: id, identity, actor: { type: 'user', id: email, reason: 'linked by the user' } }),
  );

/**
 * Removes an identity of a user by their own request.
 * @returns false when the user has no such identity.
 * @throws AppError INVALID_INPUT when no other way to log in would remain.
 */
export const unlinkOwnIdentity = (store: Store, { id: userId }: Account, key: IdentityKey): Promise<boolean> =>
  inTransaction(store.db, async (tx) => {
    const user = await lockLogins(tx, userId);
    if (!user || !(await deleteIdentity(tx, userId, key))) return false;
    if (!user.hasPassword && user.identities <= 1) refuse('this is your only way to log in');
    await record(
      tx,
      { type: 'user', id: user.email, reason: 'removed by the user' },
      { action: 'identity-unlink', email: user.email, ...key },
    );
    return true;
  });

/**
 * Links an identity to a user.
 * @throws AppError NOT_FOUND; INVALID_INPUT for an invalid identity, or one of another user.
 */
export function linkIdentityOf(admin: Admin, email: string, { name, ...key }: IdentityKey & { name: string | null }) {
  return administer(admin, async (tx) => {
    const user = await requireUser(tx, email);
    const identity = { ...key, name: name ?? key.subject };
    const actor = { type: 'operator', id: admin.actor, reason: admin.reason } as const;
    const linked = await linkIdentity(tx, { userId: user.id, identity, actor });
    return { email: user.email, ...key, changed: linked };
  });
}

/** Removes an identity of a user and ends all sessions of the user. @throws AppError NOT_FOUND. */
export function unlinkIdentityOf(admin: Admin, email: string, key: IdentityKey) {
  return administer(admin, async (tx) => {
    const user = await requireUser(tx, email);
    if (!(await deleteIdentity(tx, user.id, key))) {
      notFound(`${user.email} has no login ${key.subject} of ${key.issuer}; pipeline admin identity list shows all`);
    }
    const sessionsEnded = await deleteSessionsOf(tx, user.id);
    await audit(tx, admin, { action: 'identity-unlink', subject: `user ${user.email}`, details: { ...key } });
    return { email: user.email, ...key, sessionsEnded };
  });
}

/** The linked identities of a user, or of all. @throws AppError NOT_FOUND for an unknown user. */
export async function listIdentities({ engine: { store } }: Admin, email: string | null) {
  if (email === null) return readIdentities(store.db, MOST);
  const user = await requireUser(store.db, email);
  const identities = await identitiesOf(store.db, user.id);
  return identities.map((identity) => ({ email: user.email, ...identity }));
}

type Change = IdentityKey & { action: 'identity-link' | 'identity-unlink'; email: string };

const record = (tx: Tx, { type, id, reason }: Actor, { action, email, issuer, subject }: Change): Promise<void> =>
  insertAuditEntry(tx, {
    actorType: type,
    actorId: id,
    action,
    subject: `user ${email}`,
    reason,
    details: { issuer, subject },
  });
