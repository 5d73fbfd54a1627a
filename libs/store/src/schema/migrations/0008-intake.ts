import { type Kysely, sql } from 'kysely';

/** Reports of the host: deliveries, pull requests, remarks and checks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.webhook_deliveries (
      delivery_id text primary key,
      event text not null,
      events jsonb not null,
      received_at timestamptz default pipeline.svc_now() not null,
      processed_at timestamptz,
      attempts integer default 0 not null,
      retry_after timestamptz,
      error text,
      lane text default '' not null
    )`.execute(db);
  await sql`
    create index webhook_deliveries_by_end on pipeline.webhook_deliveries (processed_at) where (processed_at is not null)`.execute(
    db,
  );
  await sql`
    create index webhook_deliveries_open on pipeline.webhook_deliveries (received_at) where (processed_at is null)`.execute(
    db,
  );
  await sql`
    create sequence pipeline.pull_request_id_seq`.execute(db);
  await sql`
    create table pipeline.pull_requests (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.pull_request_id_seq') not null,
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
      merged boolean default false not null,
      merged_at timestamptz,
      merge_sha text,
      author text,
      agent_authored boolean default false not null,
      changed_files text[] default '{}'::text[] not null,
      opened_at timestamptz not null,
      closed_at timestamptz,
      updated_at timestamptz default pipeline.svc_now() not null,
      reverted_by integer,
      host_updated_at timestamptz,
      head_repo text,
      approved_sha text,
      approved_source text,
      approved_by text,
      approved_review_id bigint,
      checks_wait jsonb,
      checks_wait_since timestamptz,
      unchecked_sha text,
      draft boolean default false not null,
      primary key (tenant_id, id),
      constraint pull_requests_tenant_id_repo_id_number_key unique (tenant_id, repo_id, number),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create index pull_requests_by_head on pipeline.pull_requests (tenant_id, repo_id, head_sha) where (state = 'open')`.execute(
    db,
  );
  await sql`
    create index pull_requests_merged on pipeline.pull_requests (merged_at) where merged`.execute(db);
  await sql`
    create index pull_requests_merged_of_repo on pipeline.pull_requests (tenant_id, repo_id, merged_at) where merged`.execute(
    db,
  );
  await sql`
    create index pull_requests_of_issue on pipeline.pull_requests (tenant_id, issue_id)`.execute(db);
  await sql`
    create index pull_requests_opened_of_repo on pipeline.pull_requests (tenant_id, repo_id, opened_at)`.execute(db);
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
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, id),
      foreign key (tenant_id, issue_id) references pipeline.issues(tenant_id, id)
    )`.execute(db);
  await sql`
    create index review_comments_of_issue on pipeline.review_comments (tenant_id, issue_id, created_at)`.execute(db);
  await sql`
    create table pipeline.seen_remarks (
      tenant_id bigint not null,
      repo_id bigint not null,
      kind text not null,
      host_id bigint not null,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, repo_id, kind, host_id)
    )`.execute(db);
  await sql`
    create table pipeline.commit_checks (
      tenant_id bigint not null,
      repo_id bigint not null,
      sha text not null,
      kind text not null,
      name text not null,
      state text not null,
      conclusion text,
      url text,
      host_id bigint not null,
      log_tail text,
      reported_at timestamptz not null,
      suite_id bigint default 0 not null,
      constraint commit_checks_kind_check check (kind in ('check-run', 'status')),
      constraint commit_checks_state_check check (state in ('pending', 'success', 'failure')),
      primary key (tenant_id, repo_id, sha, kind, name, suite_id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create index commit_checks_by_time on pipeline.commit_checks (reported_at)`.execute(db);
}
