import { type Kysely, sql } from 'kysely';

/**
 * A worker's name belongs to the token that registered it. Null for workers from before: the first token that registers
 * one again gets it. No foreign key: tokens are local to the coordinator of a distributed store, workers are not.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.workers add column token_id uuid`.execute(db);
}
