import { type Kysely, sql } from 'kysely';

/**
 * Columns and indexes for the consistency detectors, which keep their cost proportional to possible findings, not to
 * history.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A separate column, because an index over `state` would make every transition a non-HOT update; this one changes
  // only when an issue ends or is reopened.
  await sql`
    alter table pipeline.issues
    add column is_open boolean not null generated always as (state <> 'done') stored`.execute(db);
  await sql`
    create index issues_open on pipeline.issues (tenant_id, repo_id, issue_number) where is_open`.execute(db);
  await sql`
    create index issues_blocked on pipeline.issues (tenant_id, repo_id, issue_number) where is_blocked`.execute(db);
  // All subtasks of one epic, resolved ones too: issue_edges_of_parent has the active ones only.
  await sql`
    create index issue_edges_of_epic on pipeline.issue_edges (tenant_id, parent_repo_id, parent_issue_number)
    where kind = 'subtask'`.execute(db);
  await sql`
    create table pipeline.si_issues (
      tenant_id bigint not null,
      repo_id bigint not null,
      issue_number integer not null,
      track_name text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      completed_at timestamptz,
      primary key (tenant_id, repo_id, issue_number),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  await sql`
    create index si_issues_open on pipeline.si_issues (tenant_id, repo_id, issue_number)
    where completed_at is null`.execute(db);
}
