import { type Kysely, sql } from 'kysely';

/** Runs stand in the order of their claims, so the old ones are found without a tree that every claim would have to keep. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index runs_by_claim on pipeline.runs using brin (claimed_at)`.execute(db);
}
