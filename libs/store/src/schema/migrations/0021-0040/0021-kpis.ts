import { type Kysely, sql } from 'kysely';

/** Daily KPIs of the regression guard, and indexes for its figures and those of a repo. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One row per day: the last evaluation of the day.
  await sql`
    create table pipeline.kpi_snapshots (
      tenant_id bigint not null,
      repo_id bigint not null,
      kpi text not null,
      day date not null,
      computed_at timestamptz not null,
      value double precision,
      baseline_value double precision,
      relative_delta double precision,
      sample_size integer not null,
      baseline_sample_size integer not null,
      regressed boolean not null,
      magnitude text not null,
      direction text not null,
      primary key (tenant_id, repo_id, kpi, day),
      foreign key (tenant_id, repo_id) references pipeline.repos on delete cascade
    ) with (fillfactor = 80)`.execute(db);
  await sql`create index kpi_snapshots_by_day on pipeline.kpi_snapshots (day)`.execute(db);
  await sql`alter table pipeline.pull_requests add column reverted_by integer`.execute(db);
  // Events of a repo within a window.
  await sql`create index transitions_of_repo on pipeline.transitions (tenant_id, repo_id, at)`.execute(db);
  await sql`
    create index pull_requests_merged_of_repo on pipeline.pull_requests (tenant_id, repo_id, merged_at)
    where merged`.execute(db);
  await sql`
    create index pull_requests_opened_of_repo on pipeline.pull_requests (tenant_id, repo_id, opened_at)`.execute(db);
  await sql`create index dead_letters_of_repo on pipeline.dead_letters (tenant_id, repo_id, issue_id)`.execute(db);
  // Few are paused at a time, and pausing writes the row anyway.
  await sql`
    create index issues_paused on pipeline.issues (tenant_id, repo_id, paused_at) where is_paused`.execute(db);
}
