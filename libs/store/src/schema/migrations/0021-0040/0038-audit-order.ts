import { type Kysely, sql } from 'kysely';

/** The audit of the monitor merges the log with the actions on repos, which are ordered by time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index audit_log_by_time on pipeline.audit_log (at, id)`.execute(db);
}
