import { type RawBuilder, sql } from 'kysely';
import type { Db } from './connection.ts';
import { jsonb, svcNow, svcNowPlus } from './json.ts';

/** Why a connection ended. */
export type RevokedReason = 'user' | 'client' | 'reuse' | 'operator';

export interface NewConnection {
  /** `conn_…` */
  id: string;
  tenantId: number;
  userId: number;
  clientId: string;
  clientName: string;
  resource: string;
  scope: string;
  /** The grant as the OAuth library keeps it. */
  payload: unknown;
  ttlMs: number;
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
      payload: jsonb(connection.payload) as never,
      expires_at: svcNowPlus(connection.ttlMs),
    })
    .execute();
}

/**
 * Ends a connection with all its tokens, at once and everywhere: every check of a token asks this row.
 * @returns false when it had ended before, or there is none.
 */
export async function revokeConnection(db: Db, id: string, reason: RevokedReason): Promise<boolean> {
  const row = await db
    .updateTable('oauth_connections')
    .set({ revoked_at: svcNow, revoked_reason: reason })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * True of a connection that may be used now: neither revoked nor over, its user neither disabled nor removed from the
 * organisation. For statements that name the connection `c` and its user `u`.
 */
export const connectionLives: RawBuilder<boolean> = sql<boolean>`(
  c.revoked_at is null and c.expires_at > svc_now() and u.disabled_at is null
  and exists (select from memberships m where m.tenant_id = c.tenant_id and m.user_id = c.user_id)
)`;
