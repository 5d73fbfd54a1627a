import { type Kysely, sql } from 'kysely';

/** Counts of the events of a dropped month are found without reading all of them, and without a B-tree to update. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index event_counts_by_time on pipeline.event_counts using brin (at)`.execute(db);
}
