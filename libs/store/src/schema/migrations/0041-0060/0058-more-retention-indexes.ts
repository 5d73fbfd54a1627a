import { type Kysely, sql } from 'kysely';

/** Retention finds old checks, ended invitations and workers that have left by their time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index commit_checks_by_time on pipeline.commit_checks (reported_at)`.execute(db);
  await sql`
    create index invitations_by_end on pipeline.invitations (coalesce(accepted_at, revoked_at, expires_at))`.execute(
    db,
  );
  await sql`create index workers_by_end on pipeline.workers (left_at) where left_at is not null`.execute(db);
}
