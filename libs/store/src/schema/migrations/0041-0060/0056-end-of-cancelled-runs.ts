import { type Kysely, sql } from 'kysely';

/**
 * Cancelled runs get an end, the end of their lease, so that retention deletes them. Reads all runs once and locks only
 * cancelled ones, which no worker changes any more.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    update pipeline.runs set finished_at = lease_expires_at
    where status = 'cancelled' and finished_at is null`.execute(db);
}
