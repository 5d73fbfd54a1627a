import { type Kysely, sql } from 'kysely';

/** The person that the host names as the assignee of an issue, and the host's time of the report that named them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.issue_host_facts add column assignee text, add column assignee_at timestamptz`.execute(db);
}
