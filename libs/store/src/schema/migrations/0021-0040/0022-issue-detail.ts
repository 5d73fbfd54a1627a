import { type Kysely, sql } from 'kysely';

/** Indexes for the data of one issue or one run, and for issues over all repos. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A run is found by its number alone, which is unique across tenants.
  await sql`drop index pipeline.artefacts_of_run`.execute(db);
  await sql`create index artefacts_of_run on pipeline.artefacts (run_id, id)`.execute(db);
  await sql`create index artefacts_of_issue on pipeline.artefacts (tenant_id, issue_id, id)`.execute(db);
  // The timeline of an issue has all dead letters and all host writes, not only open ones.
  await sql`create index dead_letters_of_issue on pipeline.dead_letters (tenant_id, issue_id)`.execute(db);
  await sql`
    create index findings_of_issue on pipeline.findings (tenant_id, issue_id, created_at desc, id)`.execute(db);
  await sql`
    create index projections_of_issue on pipeline.projections (tenant_id, repo_id, issue_number, id)`.execute(db);
  // The first page of a state over all repos, without sorting all of them.
  await sql`
    create index issue_list_in_state on pipeline.issue_list
      (state, state_entered_at, tenant_id, repo_id, issue_number)`.execute(db);
  await sql`create extension if not exists pg_trgm with schema pipeline`.execute(db);
  await sql`create index issues_by_title on pipeline.issues using gin (title gin_trgm_ops)`.execute(db);
}
