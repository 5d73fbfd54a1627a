import { randomBytes, randomUUID } from 'node:crypto';
import { displayText } from '@pipeline/domain';
import {
  CREDENTIALS_CLIENT,
  insertClient,
  insertConnection,
  isMember,
  listConnections as readConnections,
  revokeConnection,
  storeTime,
} from '@pipeline/store';
import { type Admin, administer, audit, notFound, refuse } from '../context/admin.ts';
import { hashToken } from '../context/token-hash.ts';
import { requireExpiry } from './expiry.ts';
import { requireOrg } from './orgs.ts';
import { requireUser } from './users.ts';

const MOST = 10_000;
/** Characters; as long as that of a program that registers itself. */
const MAX_NAME = 100;

interface Filter {
  org: string | null;
  email: string | null;
}

/** Connections with client programs, newest first. @throws AppError NOT_FOUND. */
export async function listConnections({ engine }: Admin, { org, email }: Filter) {
  const db = engine.store.db;
  const tenantId = org === null ? null : (await requireOrg(db, org)).id;
  const userId = email === null ? null : (await requireUser(db, email)).id;
  const rows = await readConnections(engine.store.db, { tenantId, userId, limit: MOST });
  return rows.map((row) => ({
    id: row.id,
    org: row.org,
    email: row.email,
    client: row.client_name,
    live: row.live,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    revokedReason: row.revoked_reason,
  }));
}

interface NewCredentials {
  org: string;
  /** The member whose read access the client has. */
  email: string;
  name: string;
  /** A duration (`90d`) or an ISO 8601 date or time with its zone. */
  expires: string;
}

/**
 * Creates a client with a secret and its connection, for programs that run without a user, such as a CI pipeline. The
 * secret is returned here only: the store has its SHA-256.
 * @throws AppError NOT_FOUND; INVALID_INPUT for a user who is no member, or a wrong name or expiry.
 */
export async function createCredentials(admin: Admin, { org: orgId, email, name, expires }: NewCredentials) {
  const clientId = `${CREDENTIALS_CLIENT}${randomUUID().replaceAll('-', '')}`;
  const clientSecret = `mcp_cs_${randomBytes(32).toString('base64url')}`;
  const id = `conn_${randomBytes(32).toString('base64url')}`;
  const clientName = displayText(name, MAX_NAME) || refuse('the name must contain a visible character');
  return administer(admin, async (tx) => {
    const org = await requireOrg(tx, orgId);
    const user = await requireUser(tx, email);
    if (!(await isMember(tx, org.id, user.id))) refuse(`${email} is not a member of ${orgId}; add the member first`);
    const now = await storeTime(tx);
    const expiresAt = requireExpiry(expires, now);
    await insertClient(
      tx,
      clientId,
      {
        client_id: clientId,
        client_name: clientName,
        client_secret: hashToken(clientSecret),
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
      null,
    );
    const ttlMs = Date.parse(expiresAt) - now.getTime();
    // Bound to the API's address when the first token is issued: only the hosted API has it.
    const target = { resource: '', scope: 'pipeline:read', payload: {} };
    await insertConnection(tx, { id, tenantId: org.id, userId: user.id, clientId, clientName, ttlMs, ...target });
    const subject = `connection ${id} of user ${email} in org ${orgId}`;
    await audit(tx, admin, {
      action: 'connection-create',
      subject,
      details: { clientId, name: clientName, expiresAt },
    });
    return { id, clientId, clientSecret, org: orgId, email, name: clientName, expiresAt };
  });
}

/** Ends a connection with all its tokens, from the next request on. @throws AppError NOT_FOUND. */
export function endConnection(admin: Admin, id: string) {
  return administer(admin, async (tx) => {
    if ((await revokeConnection(tx, id, 'operator')) === null) notFound(`there is no live connection ${id}`);
    await audit(tx, admin, { action: 'connection-revoke', subject: `connection ${id}` });
    return { revoked: [id] };
  });
}

/** Ends all connections of a user. @throws AppError NOT_FOUND for an unknown user. */
export async function endConnectionsOf(admin: Admin, email: string) {
  const connections = await listConnections(admin, { org: null, email });
  const open = connections.filter(({ revokedAt }) => revokedAt === null);
  return administer(admin, async (tx) => {
    const revoked: string[] = [];
    for (const { id } of open) if ((await revokeConnection(tx, id, 'operator')) !== null) revoked.push(id);
    const subject = `connections of user ${email}`;
    if (revoked.length > 0) await audit(tx, admin, { action: 'connection-revoke', subject, details: { revoked } });
    return { revoked };
  });
}
