import { type Kysely, sql } from 'kysely';

/**
 * When the host says that a pull request was last changed, so that what it said before that does not count any more.
 * Unknown until it is heard of again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.pull_requests add column host_updated_at timestamptz`.execute(db);
}
