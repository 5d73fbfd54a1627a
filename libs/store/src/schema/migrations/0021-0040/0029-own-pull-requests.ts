import { type Kysely, sql } from 'kysely';

/**
 * Where the branch of a pull request lives, which of its commits was approved and by whom, and at which head of the pull
 * request a claim began. Null for what was stored before: its next event fills in the first, and an approval whose commit
 * is unknown does not count, so an issue that waits for its merge is reviewed again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.pull_requests add column head_repo text`.execute(db);
  await sql`alter table pipeline.pull_requests add column approved_sha text`.execute(db);
  await sql`alter table pipeline.pull_requests add column approved_source text`.execute(db);
  await sql`alter table pipeline.pull_requests add column approved_by text`.execute(db);
  await sql`alter table pipeline.pull_requests add column approved_review_id bigint`.execute(db);
  await sql`alter table pipeline.runs add column head_sha text`.execute(db);
}
