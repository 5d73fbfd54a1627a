import { type Kysely, sql } from 'kysely';

/**
 * Runs are stored in the order of their claims, so old ones are found without a B-tree that every claim would have to
 * update.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index runs_by_claim on pipeline.runs using brin (claimed_at)`.execute(db);
}
