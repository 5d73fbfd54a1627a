import { type RawBuilder, sql } from 'kysely';
import { svcNow, svcNowPlus } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import { membersAmong } from './memberships.ts';

/** Why a connection ended: revoked by its user, its client, reuse of a token, or an operator. */
type RevokedReason = 'user' | 'client' | 'reuse' | 'operator';

export interface NewConnection {
  /** `conn_…` */
  id: string;
  tenantId: number;
  userId: number;
  clientId: string;
  clientName: string;
  resource: string;
  scope: string;
  /** The grant as the OAuth library stores it. */
  payload: unknown;
  ttlMs: number;
}

/**
 * Condition for a usable connection, but for the membership of its user: neither revoked nor expired, and its user is
 * not disabled. For statements that name the connection `c` and its user `u`. Memberships belong to tenants, and a
 * distributed store keeps those elsewhere: `ofMembers` checks them.
 */
export const connectionLives: RawBuilder<boolean> = sql<boolean>`(
  c.revoked_at is null and c.expires_at > svc_now() and u.disabled_at is null
)`;

interface OfMember {
  tenant_id: number;
  user_id: number;
}

/** Those of these connections whose user is a member of the organisation: a statement for each organisation. */
export async function ofMembers<C extends OfMember>(db: Db, connections: readonly C[]): Promise<C[]> {
  const byTenant = Map.groupBy(connections, (connection) => connection.tenant_id);
  const members = new Map(
    await Promise.all(
      [...byTenant].map(async ([tenantId, its]) => {
        const userIds = [...new Set(its.map((connection) => connection.user_id))];
        return [tenantId, await membersAmong(db, tenantId, userIds)] as const;
      }),
    ),
  );
  return connections.filter(({ tenant_id, user_id }) => members.get(tenant_id)?.has(user_id));
}

export async function insertConnection(db: Db, connection: NewConnection): Promise<void> {
  await db
    .insertInto('oauth_connections')
    .values({
      id: connection.id,
      tenant_id: connection.tenantId,
      user_id: connection.userId,
      client_id: connection.clientId,
      client_name: connection.clientName,
      resource: connection.resource,
      scope: connection.scope,
      payload: jsonb(connection.payload),
      expires_at: svcNowPlus(connection.ttlMs),
    })
    .execute();
}

/** The OAuth library's data of a usable connection; null for all others. */
export async function findGrantPayload(db: Db, id: string): Promise<Record<string, unknown> | null> {
  const found = await db
    .selectFrom('oauth_connections as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .select(['c.payload', 'c.tenant_id', 'c.user_id'])
    .where('c.id', '=', id)
    .where(connectionLives)
    .execute();
  const [row] = await ofMembers(db, found);
  return row ? (row.payload as Record<string, unknown>) : null;
}

/** Returns whether a user has a usable connection with a client. */
export async function hasConnection(db: Db, userId: number, clientId: string): Promise<boolean> {
  const found = await db
    .selectFrom('oauth_connections as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .select(['c.tenant_id', 'c.user_id'])
    .distinct()
    .where('c.user_id', '=', userId)
    .where('c.client_id', '=', clientId)
    .where(connectionLives)
    .execute();
  return (await ofMembers(db, found)).length > 0;
}

/** The usable connection of a client that has exactly one, created with it; null without one. */
export async function connectionOfClient(db: Db, clientId: string): Promise<string | null> {
  const found = await db
    .selectFrom('oauth_connections as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .select(['c.id', 'c.tenant_id', 'c.user_id'])
    .where('c.client_id', '=', clientId)
    .where(connectionLives)
    .execute();
  const [row] = await ofMembers(db, found);
  return row?.id ?? null;
}

/** Binds the access tokens of a connection to a resource. */
export async function bindConnection(db: Db, id: string, resource: string): Promise<void> {
  await db
    .updateTable('oauth_connections')
    .set({ resource })
    .where('id', '=', id)
    .where('resource', '<>', resource)
    .execute();
}

/** Records that the connection got a new access token: "last used", with the resolution of a token's lifetime. */
export async function touchConnection(db: Db, id: string): Promise<void> {
  await db.updateTable('oauth_connections').set({ last_used_at: svcNow }).where('id', '=', id).execute();
}

/**
 * Ends a connection with all its tokens, immediately and everywhere: every token check reads this row.
 * @param userId only if it is this user's.
 * @returns the id of its client; null when it had ended before, or does not exist.
 */
export async function revokeConnection(
  db: Db,
  id: string,
  reason: RevokedReason,
  userId: number | null = null,
): Promise<string | null> {
  const row = await db
    .updateTable('oauth_connections')
    .set({ revoked_at: svcNow, revoked_reason: reason })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .$if(userId !== null, (update) => update.where('user_id', '=', userId))
    .returning('client_id')
    .executeTakeFirst();
  return row?.client_id ?? null;
}

/** Ends all connections of a user with all their tokens, immediately and everywhere. @returns their ids. */
export async function revokeConnectionsOf(db: Db, userId: number, reason: RevokedReason): Promise<string[]> {
  const rows = await db
    .updateTable('oauth_connections')
    .set({ revoked_at: svcNow, revoked_reason: reason })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

export interface ConnectionEntry {
  id: string;
  clientId: string;
  clientName: string;
  organisation: string;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string;
}

/** The usable connections of a user, newest first. */
export async function liveConnectionsOf(db: Db, userId: number): Promise<ConnectionEntry[]> {
  const found = await db
    .selectFrom('oauth_connections as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .innerJoin('tenants as o', 'o.id', 'c.tenant_id')
    .select(['c.tenant_id', 'c.user_id'])
    .select(['c.id', 'c.client_id as clientId', 'c.client_name as clientName', 'o.name as organisation'])
    .select(['c.created_at as createdAt', 'c.last_used_at as lastUsedAt', 'c.expires_at as expiresAt'])
    .where('c.user_id', '=', userId)
    .where(connectionLives)
    .orderBy('c.created_at', 'desc')
    .orderBy('c.id')
    .execute();
  return (await ofMembers(db, found)).map(({ tenant_id: _tenant, user_id: _user, ...entry }) => entry);
}

/** A user's connection with a client program, as operators see it. */
interface ConnectionSummary {
  id: string;
  org: string;
  email: string;
  client_name: string;
  client_id: string;
  created_at: string;
  last_used_at: string | null;
  expires_at: string;
  revoked_at: string | null;
  revoked_reason: string | null;
  /** True = it can be used now. */
  live: boolean;
}

/** Connections of an organisation, a user, or all, newest first. */
export async function listConnections(
  db: Db,
  scope: { tenantId: number | null; userId: number | null; limit: number },
): Promise<ConnectionSummary[]> {
  const { rows } = await sql<ConnectionSummary & OfMember>`
    select c.id, c.tenant_id, c.user_id, t.external_id as org, u.email, c.client_name, c.client_id, c.created_at, c.last_used_at, c.expires_at,
      c.revoked_at, c.revoked_reason, ${connectionLives} as live
    from oauth_connections c join users u on u.id = c.user_id join tenants t on t.id = c.tenant_id
    where (${scope.tenantId}::bigint is null or c.tenant_id = ${scope.tenantId})
      and (${scope.userId}::bigint is null or c.user_id = ${scope.userId})
    order by c.created_at desc, c.id
    limit ${scope.limit}`.execute(db);
  const members = new Set(
    await ofMembers(
      db,
      rows.filter(({ live }) => live),
    ),
  );
  return rows.map((row) => {
    const { tenant_id: _tenant, user_id: _user, ...summary } = row;
    return { ...summary, live: members.has(row) };
  });
}
