import {
  type Account,
  deleteSession,
  insertAuditEntry,
  insertConnection,
  insertSession,
  inTransaction,
  type NewConnection,
  revokeConnection,
  revokeConnectionsOf,
  type Store,
} from '@pipeline/store';

type Tenants = Pick<Store, 'db'>;

interface Login {
  /** SHA-256 of the cookie's value. */
  hash: Buffer;
  account: Pick<Account, 'id' | 'email'>;
  ttlMs: number;
  /** `password`, `invitation`, or the id of an identity provider. */
  method: string;
  address: string;
}

/** Actor and subject of an entry: a user of an organisation in a browser, as opposed to an operator. */
const byUser = (email: string) => ({ actorType: 'user' as const, actorId: email, reason: null });

/** Begins a session of a user who has proved who they are, with an audit entry. */
export const beginSession = ({ db }: Tenants, { hash, account, ttlMs, method, address }: Login): Promise<void> =>
  inTransaction(db, async (tx) => {
    await insertSession(tx, hash, account.id, ttlMs);
    const subject = `user ${account.email}`;
    await insertAuditEntry(tx, { ...byUser(account.email), action: 'login', subject, details: { method, address } });
  });

/**
 * Ends a session, with an audit entry.
 * @param userId only if it is this user's.
 * @returns false when it had ended before, or does not exist.
 */
export const endSession = ({ db }: Tenants, hash: Buffer, userId: number | null = null): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const email = await deleteSession(tx, hash, userId);
    if (email === null) return false;
    await insertAuditEntry(tx, { ...byUser(email), action: 'logout', subject: `user ${email}`, details: {} });
    return true;
  });

/** Creates the connection to which a user has consented, with an audit entry. */
export const grantConnection = (
  { db }: Tenants,
  connection: NewConnection,
  { email, organisation }: { email: string; organisation: string },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await insertConnection(tx, connection);
    const { id, clientId, clientName: name } = connection;
    const subject = `connection ${id} of user ${email} in org ${organisation}`;
    await insertAuditEntry(tx, {
      ...byUser(email),
      action: 'connection-create',
      subject,
      details: { clientId, name },
    });
  });

/** Ends a connection of a user, with an audit entry. @returns false when it had ended before, or is not theirs. */
export const endOwnConnection = ({ db }: Tenants, { id: userId, email }: Account, id: string): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const clientId = await revokeConnection(tx, id, 'user', userId);
    if (clientId === null) return false;
    const subject = `connection ${id}`;
    await insertAuditEntry(tx, { ...byUser(email), action: 'connection-revoke', subject, details: { clientId } });
    return true;
  });

/** Ends all connections of a user, with one audit entry. @returns their ids. */
export const endOwnConnections = ({ db }: Tenants, { id: userId, email }: Account): Promise<string[]> =>
  inTransaction(db, async (tx) => {
    const revoked = await revokeConnectionsOf(tx, userId, 'user');
    const subject = `connections of user ${email}`;
    if (revoked.length > 0)
      await insertAuditEntry(tx, { ...byUser(email), action: 'connection-revoke', subject, details: { revoked } });
    return revoked;
  });

/** Ends a connection because its program revoked a token or used one again, with an audit entry. */
export const endConnectionOfClient = ({ db }: Tenants, id: string, cause: 'client' | 'reuse'): Promise<void> =>
  inTransaction(db, async (tx) => {
    const clientId = await revokeConnection(tx, id, cause);
    if (clientId === null) return;
    const entry = { action: 'connection-revoke', subject: `connection ${id}`, details: { clientId } };
    await insertAuditEntry(
      tx,
      cause === 'client'
        ? { ...entry, actorType: 'client', actorId: clientId, reason: 'revoked by the program' }
        : { ...entry, actorType: 'system', actorId: 'hosted-api', reason: 'a token was used again' },
    );
  });
