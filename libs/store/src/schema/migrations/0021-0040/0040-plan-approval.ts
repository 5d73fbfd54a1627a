import { type Kysely, sql } from 'kysely';

/**
 * Versions of plans that need the approval of a person, and their answers. The issue has the number and status of its
 * latest version; null = its plan needs no approval.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.issues
      add column plan_version integer not null default 0,
      add column plan_status text
        constraint issues_plan_status_known
        check (plan_status in ('pending', 'approved', 'rejected', 'withdrawn'))`.execute(db);
  await sql`
    create table pipeline.issue_plans (
      tenant_id bigint not null,
      issue_id bigint not null,
      version integer not null,
      edits_version integer,
      author_type text not null check (author_type in ('agent', 'operator')),
      author text not null,
      body text not null,
      planned_files text[] not null default '{}',
      status text not null check (status in ('pending', 'approved', 'rejected', 'withdrawn')),
      answered_by text,
      answered_at timestamptz,
      reason text,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, issue_id, version),
      foreign key (tenant_id, issue_id) references pipeline.issues
    )`.execute(db);
}
