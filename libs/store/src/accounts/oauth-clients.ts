import type { Db } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';

/** Begins the ids of clients that have a secret (the SHA-256 of it is their `client_secret`) and one connection. */
export const CREDENTIALS_CLIENT = 'ci_';

type Metadata = Record<string, unknown>;

/** @param address of the program that registered itself; null = created by an administrator. */
export async function insertClient(db: Db, id: string, metadata: Metadata, address: string | null): Promise<void> {
  await db
    .insertInto('oauth_clients')
    .values({ id, metadata: jsonb(metadata), created_ip: address })
    .execute();
}

export async function findClient(db: Db, id: string): Promise<Metadata | null> {
  const row = await db.selectFrom('oauth_clients').select('metadata').where('id', '=', id).executeTakeFirst();
  return row ? (row.metadata as Metadata) : null;
}
