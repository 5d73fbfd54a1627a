import type { Insertable } from 'kysely';
import type { Tx } from './connection.ts';
import type { Transitions } from './database.generated.ts';

export async function insertTransition(tx: Tx, row: Insertable<Transitions>): Promise<void> {
  await tx.insertInto('transitions').values(row).execute();
}
