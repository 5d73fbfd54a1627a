import { type Kysely, sql } from 'kysely';

/**
 * Adds the time at which an operator removed a repo. Its row stays, because its history (issues, runs, costs) refers to
 * it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.repos add column removed_at timestamptz`.execute(db);
  await sql`
    alter table pipeline.repos add constraint repos_removed_is_disabled check (removed_at is null or not enabled)`.execute(
    db,
  );
}
