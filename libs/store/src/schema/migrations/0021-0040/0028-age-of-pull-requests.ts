import { type Kysely, sql } from 'kysely';

/** The host time of a pull request's last change, so that older reports are ignored. Unknown until its next report. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.pull_requests add column host_updated_at timestamptz`.execute(db);
}
