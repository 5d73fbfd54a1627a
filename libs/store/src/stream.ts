import { sql } from 'kysely';
import type { Db } from './connection.ts';
import { jsonb } from './json.ts';
import { inTransaction } from './transaction.ts';

const BATCH = 500;
/** Old events are of no use: who was away for longer reads the tables. */
const KEPT = 10_000;

/**
 * Gives the facts of the outbox their ids: moves one batch into `stream_events`, numbered from the counter row, and
 * forgets all but the newest 10,000. Ids strictly increase in the order in which they become visible, for one process
 * at a time does this: the lock of the transaction says which, so none that dies can hold it.
 * @returns how many were moved; 0 also while another process is at it.
 */
export function sequenceStream(fleet: Db): Promise<number> {
  return inTransaction(fleet, async (tx) => {
    const { rows } = await sql<{ held: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('pipeline.stream', 0)) as held`.execute(tx);
    if (rows[0]?.held !== true) return 0;
    const batch = await tx
      .deleteFrom('stream_outbox')
      .where('id', 'in', (eb) => eb.selectFrom('stream_outbox').select('id').orderBy('id').limit(BATCH))
      .returning(['id', 'tenant_id', 'event_type', 'data', 'created_at'])
      .execute();
    if (batch.length === 0) return 0;
    batch.sort((a, b) => (a.id < b.id ? -1 : 1));
    const { last_id } = await tx
      .updateTable('stream_counter')
      .set((eb) => ({ last_id: eb('last_id', '+', batch.length) }))
      .where('id', '=', 1)
      .returning('last_id')
      .executeTakeFirstOrThrow();
    const first = last_id - batch.length + 1;
    const values = batch.map(({ tenant_id, event_type, data, created_at }, index) => {
      return { id: first + index, tenant_id, event_type, data: jsonb(data), created_at };
    });
    await tx.insertInto('stream_events').values(values).execute();
    await tx
      .deleteFrom('stream_events')
      .where('id', '<=', last_id - KEPT)
      .execute();
    return batch.length;
  });
}
