import { sql } from 'kysely';
import { svcNow, svcNowPlus } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';

type Payload = Record<string, unknown>;

interface Artifact {
  /** Its type in the OAuth library, such as `Interaction`. */
  model: string;
  /** SHA-256 of its id, which is a secret of one browser. */
  hash: Buffer;
  uid: string | null;
  payload: Payload;
  ttlMs: number;
}

/** Inserts or replaces an artifact of an authorization in progress. */
export async function saveArtifact(db: Db, { model, hash, uid, payload, ttlMs }: Artifact): Promise<void> {
  await db
    .insertInto('oauth_artifacts')
    .values({ model, hash, uid, payload: jsonb(payload), expires_at: svcNowPlus(ttlMs) })
    .onConflict((c) =>
      c.columns(['model', 'hash']).doUpdateSet((eb) => ({
        uid: eb.ref('excluded.uid'),
        payload: eb.ref('excluded.payload'),
        expires_at: eb.ref('excluded.expires_at'),
      })),
    )
    .execute();
}

export async function findArtifact(
  db: Db,
  model: string,
  by: { hash: Buffer } | { uid: string },
): Promise<Payload | null> {
  const row = await db
    .selectFrom('oauth_artifacts')
    .select(['payload', 'consumed_at'])
    .where('model', '=', model)
    .where((eb) => ('hash' in by ? eb('hash', '=', by.hash) : eb('uid', '=', by.uid)))
    .where('expires_at', '>', sql<string>`svc_now()`)
    .executeTakeFirst();
  if (!row) return null;
  const payload = row.payload as Payload;
  return row.consumed_at === null ? payload : { ...payload, consumed: Math.floor(Date.parse(row.consumed_at) / 1000) };
}

/** @returns false when it was used before, or does not exist. */
export async function consumeArtifact(db: Db, model: string, hash: Buffer): Promise<boolean> {
  const row = await db
    .updateTable('oauth_artifacts')
    .set({ consumed_at: svcNow })
    .where('model', '=', model)
    .where('hash', '=', hash)
    .where('consumed_at', 'is', null)
    .returning('model')
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns false when there was none any more. */
export async function deleteArtifact(db: Db, model: string, hash: Buffer): Promise<boolean> {
  const row = await db
    .deleteFrom('oauth_artifacts')
    .where('model', '=', model)
    .where('hash', '=', hash)
    .returning('model')
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes an artifact, so that it is used once. @returns its payload; null when it was used before, expired, or does not exist. */
export async function takeArtifact(db: Db, model: string, hash: Buffer): Promise<Payload | null> {
  const row = await db
    .deleteFrom('oauth_artifacts')
    .where('model', '=', model)
    .where('hash', '=', hash)
    .where('expires_at', '>', sql<string>`svc_now()`)
    .returning('payload')
    .executeTakeFirst();
  return (row?.payload as Payload | undefined) ?? null;
}

/**
 * Records the decision of a person about a device code, once. @param decision fields of the payload.
 * @returns false when it was decided before, used, or has expired.
 */
export async function decideDeviceCode(db: Db, userCode: string, decision: Payload): Promise<boolean> {
  const row = await db
    .updateTable('oauth_artifacts')
    .set({ payload: sql`payload || ${jsonb(decision)}` })
    .where('model', '=', 'DeviceCode')
    .where('uid', '=', userCode)
    .where('consumed_at', 'is', null)
    .where('expires_at', '>', sql<string>`svc_now()`)
    .where(sql<boolean>`not payload ?| array['accountId', 'error']`)
    .returning('model')
    .executeTakeFirst();
  return row !== undefined;
}
