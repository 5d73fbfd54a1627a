import { type Kysely, sql } from 'kysely';

/** Results of side tasks: retrospectives of issues, and the files and symbols of repos. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // At most one of each is live, so that later events add no second one. A task is live from its enqueueing to its
  // report; one that is returned to the queue never conflicts with another.
  await sql`
    create unique index tasks_one_retrospect_per_issue on pipeline.tasks (tenant_id, issue_id)
    where task_type = 'retrospect'`.execute(db);
  await sql`
    create unique index tasks_one_scan_per_repo on pipeline.tasks (tenant_id, repo_id)
    where task_type = 'code-map-scan'`.execute(db);
  // Known from the submission, before the pull request, which the outbox opens later.
  await sql`alter table pipeline.issues add column submitted_files text[] not null default '{}'`.execute(db);
  await sql`
    create table pipeline.retrospectives (
      tenant_id bigint not null,
      id uuid not null,
      repo_id bigint not null,
      issue_id bigint not null,
      run_id bigint,
      status text not null,
      outcome_classification text,
      summary text not null,
      planned_files jsonb,
      actual_files jsonb,
      failures jsonb,
      lessons jsonb,
      created_at timestamptz not null default pipeline.svc_now(),
      updated_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos,
      foreign key (tenant_id, issue_id) references pipeline.issues
    )`.execute(db);
  // An issue that was reopened has several; the newest is shown. Ids are assigned in order of time.
  await sql`create index retrospectives_of_issue on pipeline.retrospectives (tenant_id, issue_id, id)`.execute(db);
  await sql`
    create table pipeline.repo_scans (
      tenant_id bigint not null,
      repo_id bigint not null,
      due_at timestamptz not null,
      scanned_at timestamptz,
      head_sha text,
      truncated boolean not null default false,
      file_count integer not null default 0,
      symbol_count integer not null default 0,
      updated_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, repo_id),
      foreign key (tenant_id, repo_id) references pipeline.repos on delete cascade
    )`.execute(db);
  // One row per file, with its symbols: retrieval ranks files, so a file is one document, and a scan that changes a
  // file rewrites one row.
  await sql`
    create table pipeline.repo_files (
      tenant_id bigint not null,
      repo_id bigint not null,
      path text not null,
      language text,
      size bigint,
      sha text,
      summary text,
      symbols jsonb not null,
      updated_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, repo_id, path),
      foreign key (tenant_id, repo_id) references pipeline.repos on delete cascade
    )`.execute(db);
}
