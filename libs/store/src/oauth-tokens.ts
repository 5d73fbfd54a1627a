import type { Db } from './connection.ts';
import { jsonb, svcNowPlus } from './json.ts';

export type TokenKind = 'AccessToken' | 'RefreshToken' | 'AuthorizationCode';

export interface NewToken {
  /** SHA-256 of the whole token, prefix included; the token itself is stored nowhere. */
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
      payload: jsonb(payload) as never,
      expires_at: svcNowPlus(ttlMs),
    })
    .execute();
}
