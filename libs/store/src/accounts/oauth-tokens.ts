import { sql } from 'kysely';
import { svcNow, svcNowPlus } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import { connectionLives, ofMembers } from './connections.ts';

export type TokenKind = 'AccessToken' | 'RefreshToken' | 'AuthorizationCode';

interface NewToken {
  /** SHA-256 of the whole token, prefix included; the token itself is not stored. */
  hash: Buffer;
  kind: TokenKind;
  connectionId: string;
  payload: unknown;
  ttlMs: number;
}

export async function insertToken(db: Db, { hash, kind, connectionId, payload, ttlMs }: NewToken): Promise<void> {
  await db
    .insertInto('oauth_tokens')
    .values({
      hash,
      kind,
      connection_id: connectionId,
      payload: jsonb(payload),
      expires_at: svcNowPlus(ttlMs),
    })
    .execute();
}

interface StoredToken {
  payload: Record<string, unknown>;
  /** Time of its use, for tokens that may be used once; null = never. */
  consumedAt: string | null;
}

/**
 * A token whose connection is usable; null for all others. A consumed one is returned too, so that its reuse can be
 * detected.
 */
export async function findToken(db: Db, kind: TokenKind, hash: Buffer): Promise<StoredToken | null> {
  const found = await db
    .selectFrom('oauth_tokens as t')
    .innerJoin('oauth_connections as c', 'c.id', 't.connection_id')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .select(['t.payload', 't.consumed_at', 'c.tenant_id', 'c.user_id'])
    .where('t.hash', '=', hash)
    .where('t.kind', '=', kind)
    .where('t.expires_at', '>', sql<string>`svc_now()`)
    .where(connectionLives)
    .execute();
  const [row] = await ofMembers(db, found);
  return row ? { payload: row.payload as Record<string, unknown>, consumedAt: row.consumed_at } : null;
}

/** Ends an access token before its expiry; its connection stays. */
export async function deleteToken(db: Db, hash: Buffer): Promise<void> {
  await db.deleteFrom('oauth_tokens').where('hash', '=', hash).execute();
}

/**
 * Marks a token as used. Of two concurrent calls the second waits for the first one's transaction.
 * @returns false when it had been used before: only the caller that gets true may continue.
 */
export async function consumeToken(db: Db, hash: Buffer): Promise<boolean> {
  const row = await db
    .updateTable('oauth_tokens')
    .set({ consumed_at: svcNow })
    .where('hash', '=', hash)
    .where('consumed_at', 'is', null)
    .returning('kind')
    .executeTakeFirst();
  return row !== undefined;
}
