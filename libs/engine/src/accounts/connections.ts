import { listConnections as readConnections, revokeConnection } from '@pipeline/store';
import { type Admin, administer, audit, notFound } from '../context/admin.ts';
import { requireOrg } from './orgs.ts';
import { requireUser } from './users.ts';

const MOST = 10_000;

interface Filter {
  org: string | null;
  email: string | null;
}

/** Connections with client programs, newest first. @throws AppError NOT_FOUND. */
export async function listConnections({ engine }: Admin, { org, email }: Filter) {
  const db = engine.store.tenant;
  const tenantId = org === null ? null : (await requireOrg(db, org)).id;
  const userId = email === null ? null : (await requireUser(db, email)).id;
  const rows = await readConnections(engine.store.fleet, { tenantId, userId, limit: MOST });
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

/** Ends a connection with all its tokens, from the next request on. @throws AppError NOT_FOUND. */
export function endConnection(admin: Admin, id: string) {
  return administer(admin, async (tx) => {
    if (!(await revokeConnection(tx, id, 'operator'))) notFound(`there is no live connection ${id}`);
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
    for (const { id } of open) if (await revokeConnection(tx, id, 'operator')) revoked.push(id);
    const subject = `connections of user ${email}`;
    if (revoked.length > 0) await audit(tx, admin, { action: 'connection-revoke', subject, details: { revoked } });
    return { revoked };
  });
}
