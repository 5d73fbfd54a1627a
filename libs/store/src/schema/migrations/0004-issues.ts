import { type Kysely, sql } from 'kysely';

/** Issues, their dependencies, plans and workflows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create sequence pipeline.issue_id_seq`.execute(db);
  await sql`
    create table pipeline.issues (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.issue_id_seq') not null,
      repo_id bigint not null,
      issue_number integer not null,
      title text not null,
      body text not null,
      url text not null,
      author text,
      labels text[] default '{}'::text[] not null,
      state text not null,
      state_entered_at timestamptz default pipeline.svc_now() not null,
      is_blocked boolean default false not null,
      is_paused boolean default false not null,
      paused_at timestamptz,
      block_reason text,
      block_classification text,
      blocked_from_state text,
      auto_unblock_count integer default 0 not null,
      auto_unblock_at timestamptz,
      question text,
      plan text,
      planned_files text[] default '{}'::text[] not null,
      last_error text,
      current_status text,
      last_event_at timestamptz,
      cost_usd numeric(24,6) default 0 not null,
      parent_issue_number integer,
      status_comment_body text,
      host_created_at timestamptz not null,
      host_updated_at timestamptz not null,
      created_at timestamptz default pipeline.svc_now() not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      is_open boolean generated always as ((state <> 'done')) stored not null,
      told_budget_percent integer,
      quota_waited_ms bigint default 0 not null,
      submitted_files text[] default '{}'::text[] not null,
      standing_since_hour timestamptz generated always as (case when ((state <> 'done') and (not is_paused)) then date_bin('01:00:00'::interval, state_entered_at, '2000-01-01 00:00:00+00'::timestamptz) else null::timestamptz end) stored,
      error_fingerprint text,
      reached_states integer default 1 not null,
      text_changed_at timestamptz,
      text_changed_by text,
      plan_version integer default 0 not null,
      plan_status text,
      unreported_costs integer default 0 not null,
      rounds jsonb default '{}'::jsonb not null,
      constraint issues_plan_status_known check (plan_status in ('pending', 'approved', 'rejected', 'withdrawn')),
      primary key (tenant_id, id),
      constraint issues_tenant_id_repo_id_issue_number_key unique (tenant_id, repo_id, issue_number),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create index issues_auto_unblock_due on pipeline.issues (auto_unblock_at) where (auto_unblock_at is not null)`.execute(
    db,
  );
  await sql`
    create index issues_blocked on pipeline.issues (tenant_id, repo_id, issue_number) where is_blocked`.execute(db);
  await sql`
    create index issues_by_entry on pipeline.issues (created_at)`.execute(db);
  await sql`
    create index issues_by_title on pipeline.issues using gin (title public.gin_trgm_ops)`.execute(db);
  await sql`
    create index issues_of_error on pipeline.issues (error_fingerprint, tenant_id, repo_id, issue_number) where (error_fingerprint is not null)`.execute(
    db,
  );
  await sql`
    create index issues_open on pipeline.issues (tenant_id, repo_id, issue_number) where is_open`.execute(db);
  await sql`
    create index issues_paused on pipeline.issues (tenant_id, repo_id, paused_at) where is_paused`.execute(db);
  await sql`
    create index issues_standing on pipeline.issues (standing_since_hour) where (standing_since_hour is not null)`.execute(
    db,
  );
  await sql`
    create index issues_told_of_budget on pipeline.issues (tenant_id, id) where (told_budget_percent is not null)`.execute(
    db,
  );
  await sql`
    create sequence pipeline.issue_edge_id_seq`.execute(db);
  await sql`
    create table pipeline.issue_edges (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.issue_edge_id_seq') not null,
      kind text not null,
      child_repo_id bigint not null,
      child_issue_number integer not null,
      child_issue_id bigint,
      parent_repo_id bigint not null,
      parent_issue_number integer not null,
      parent_issue_id bigint,
      active boolean default true not null,
      resolved_by text,
      resolved_at timestamptz,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create index issue_edges_of_epic on pipeline.issue_edges (tenant_id, parent_repo_id, parent_issue_number) where (kind = 'subtask')`.execute(
    db,
  );
  await sql`
    create index issue_edges_of_parent on pipeline.issue_edges (tenant_id, parent_repo_id, parent_issue_number) where active`.execute(
    db,
  );
  await sql`
    create unique index issue_edges_once on pipeline.issue_edges (tenant_id, kind, child_repo_id, child_issue_number, parent_repo_id, parent_issue_number)`.execute(
    db,
  );
  await sql`
    create table pipeline.issue_plans (
      tenant_id bigint not null,
      issue_id bigint not null,
      version integer not null,
      edits_version integer,
      author_type text not null,
      author text not null,
      body text not null,
      planned_files text[] default '{}'::text[] not null,
      status text not null,
      answered_by text,
      answered_at timestamptz,
      reason text,
      created_at timestamptz default pipeline.svc_now() not null,
      constraint issue_plans_author_type_check check (author_type in ('agent', 'operator')),
      constraint issue_plans_status_check check (status in ('pending', 'approved', 'rejected', 'withdrawn')),
      primary key (tenant_id, issue_id, version),
      foreign key (tenant_id, issue_id) references pipeline.issues(tenant_id, id)
    )`.execute(db);
  await sql`
    create table pipeline.issue_host_facts (
      tenant_id bigint not null,
      issue_id bigint not null,
      acted_at timestamptz,
      acted_event_id bigint,
      state_at timestamptz,
      labels_at timestamptz,
      label_times jsonb default '{}'::jsonb not null,
      pause_at timestamptz,
      command_at timestamptz,
      text_sha256 text not null,
      text_at timestamptz not null,
      text_accepted_by text,
      changed_title text,
      changed_body text,
      changed_sha256 text,
      changed_by text,
      changed_at timestamptz,
      seen_at timestamptz,
      assignee text,
      assignee_at timestamptz,
      primary key (tenant_id, issue_id),
      foreign key (tenant_id, issue_id) references pipeline.issues(tenant_id, id)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create table pipeline.workflow_snapshots (
      tenant_id bigint not null,
      repo_id bigint not null,
      version integer not null,
      active boolean default false not null,
      body jsonb not null,
      created_at timestamptz default pipeline.svc_now() not null,
      created_by text,
      activated_at timestamptz,
      activated_by text,
      primary key (tenant_id, repo_id, version),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id) on delete cascade
    )`.execute(db);
  await sql`
    create unique index workflow_snapshots_one_active on pipeline.workflow_snapshots (tenant_id, repo_id) where active`.execute(
    db,
  );
}
