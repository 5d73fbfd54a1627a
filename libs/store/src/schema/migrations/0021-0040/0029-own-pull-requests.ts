import { type Kysely, sql } from 'kysely';

/**
 * The repository of a pull request's branch, its approved commit and approver, and the head at the time of a claim.
 * Null for existing rows: the next event fills in the first, and an approval of an unknown commit is invalid, so an
 * issue that waits for its merge is reviewed again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.pull_requests add column head_repo text`.execute(db);
  await sql`alter table pipeline.pull_requests add column approved_sha text`.execute(db);
  await sql`alter table pipeline.pull_requests add column approved_source text`.execute(db);
  await sql`alter table pipeline.pull_requests add column approved_by text`.execute(db);
  await sql`alter table pipeline.pull_requests add column approved_review_id bigint`.execute(db);
  await sql`alter table pipeline.runs add column head_sha text`.execute(db);
}
