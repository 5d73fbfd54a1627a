import { type Kysely, sql } from 'kysely';

/** Issues and what belongs to them. `labels` = what the host shows once the outbox has drained. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['issue_id', 'issue_edge_id', 'pull_request_id', 'transition_id']) {
    await sql`create sequence pipeline.${sql.ref(`${name}_seq`)}`.execute(db);
  }
  await sql`
    create table pipeline.issues (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.issue_id_seq'),
      repo_id bigint not null,
      issue_number integer not null,
      title text not null,
      body text not null,
      url text not null,
      author text,
      labels text[] not null default '{}',
      state text not null,
      state_entered_at timestamptz not null default pipeline.svc_now(),
      is_blocked boolean not null default false,
      is_paused boolean not null default false,
      paused_at timestamptz,
      block_reason text,
      block_classification text,
      blocked_from_state text,
      auto_unblock_count integer not null default 0,
      auto_unblock_at timestamptz,
      question text,
      plan text,
      planned_files text[] not null default '{}',
      last_error text,
      current_status text,
      last_event_at timestamptz,
      cost_usd numeric(14,6) not null default 0,
      parent_issue_number integer,
      status_comment_body text,
      host_created_at timestamptz not null,
      host_updated_at timestamptz not null,
      created_at timestamptz not null default pipeline.svc_now(),
      updated_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      unique (tenant_id, repo_id, issue_number),
      foreign key (tenant_id, repo_id) references pipeline.repos
    ) with (fillfactor = 80)`.execute(db);
  // For the self-healing loop, which reads blocks with an expired backoff; few rows ever qualify.
  await sql`
    create index issues_auto_unblock_due on pipeline.issues (auto_unblock_at)
    where auto_unblock_at is not null`.execute(db);
  await sql`
    create table pipeline.issue_edges (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.issue_edge_id_seq'),
      kind text not null,
      child_repo_id bigint not null,
      child_issue_number integer not null,
      child_issue_id bigint,
      parent_repo_id bigint not null,
      parent_issue_number integer not null,
      parent_issue_id bigint,
      active boolean not null default true,
      resolved_by text,
      resolved_at timestamptz,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create unique index issue_edges_once on pipeline.issue_edges
      (tenant_id, kind, child_repo_id, child_issue_number, parent_repo_id, parent_issue_number)`.execute(db);
  await sql`
    create index issue_edges_of_parent on pipeline.issue_edges (tenant_id, parent_repo_id, parent_issue_number)
    where active`.execute(db);
  await sql`
    create table pipeline.pull_requests (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.pull_request_id_seq'),
      repo_id bigint not null,
      issue_id bigint,
      number integer not null,
      title text not null,
      body text not null,
      url text not null,
      head_ref text not null,
      head_sha text not null,
      base_ref text not null,
      state text not null,
      merged boolean not null default false,
      merged_at timestamptz,
      merge_sha text,
      author text,
      agent_authored boolean not null default false,
      changed_files text[] not null default '{}',
      opened_at timestamptz not null,
      closed_at timestamptz,
      updated_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      unique (tenant_id, repo_id, number),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  await sql`create index pull_requests_of_issue on pipeline.pull_requests (tenant_id, issue_id)`.execute(db);
  await sql`
    create table pipeline.transitions (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.transition_id_seq'),
      repo_id bigint not null,
      issue_id bigint not null,
      from_state text,
      to_state text not null,
      trigger text not null,
      forced boolean not null default false,
      agent text,
      actor_type text not null,
      actor_id text,
      reason text,
      duration_in_from_ms bigint,
      at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      foreign key (tenant_id, issue_id) references pipeline.issues
    )`.execute(db);
  await sql`create index transitions_of_issue on pipeline.transitions (tenant_id, issue_id, id)`.execute(db);
  await sql`
    create table pipeline.review_comments (
      tenant_id bigint not null,
      id uuid not null,
      issue_id bigint not null,
      kind text not null,
      author text not null,
      body text not null,
      path text,
      line integer,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      foreign key (tenant_id, issue_id) references pipeline.issues
    )`.execute(db);
  await sql`
    create index review_comments_of_issue on pipeline.review_comments (tenant_id, issue_id, created_at)`.execute(db);
  // A comment or review is handled once, however often webhooks and polls repeat it.
  await sql`
    create table pipeline.seen_remarks (
      tenant_id bigint not null,
      repo_id bigint not null,
      kind text not null,
      host_id bigint not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, repo_id, kind, host_id)
    )`.execute(db);
  await sql`
    create table pipeline.findings (
      tenant_id bigint not null,
      id uuid not null,
      repo_id bigint not null,
      issue_id bigint,
      pr_number integer,
      run_id bigint,
      agent_name text not null,
      finding_type text not null,
      category text not null,
      severity text not null,
      confidence double precision,
      title text not null,
      summary text not null,
      recommendation text,
      evidence jsonb not null,
      metadata jsonb not null,
      blocks_progress boolean not null,
      status text not null default 'open',
      created_at timestamptz not null default pipeline.svc_now(),
      updated_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  // Read at every approval: are there blocking findings?
  await sql`
    create index findings_blocking on pipeline.findings (tenant_id, issue_id)
    where blocks_progress and status in ('open', 'accepted')`.execute(db);
}
