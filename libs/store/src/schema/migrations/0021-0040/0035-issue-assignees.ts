import { type Kysely, sql } from 'kysely';

/** Stores the assignee of an issue (a person) and the host's time of the report. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.issue_host_facts add column assignee text, add column assignee_at timestamptz`.execute(db);
}
