import { type Kysely, sql } from 'kysely';

/** Host writes, and transitions that failed for good. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create sequence pipeline.projection_id_seq`.execute(db);
  await sql`
    create table pipeline.projections (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.projection_id_seq') not null,
      repo_id bigint not null,
      issue_id bigint,
      issue_number integer not null,
      lane text not null,
      action jsonb not null,
      effect text,
      status text default 'pending' not null,
      attempts integer default 0 not null,
      max_attempts integer not null,
      client_type text not null,
      retry_after timestamptz,
      attempt_started_at timestamptz,
      error text,
      result jsonb,
      idempotency_key text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      attempt_epoch bigint,
      primary key (tenant_id, id),
      constraint projections_tenant_id_idempotency_key_key unique (tenant_id, idempotency_key)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create index projections_by_id on pipeline.projections (id)`.execute(db);
  await sql`
    create index projections_by_status on pipeline.projections (status, updated_at)`.execute(db);
  await sql`
    create index projections_of_issue on pipeline.projections (tenant_id, repo_id, issue_number, id)`.execute(db);
  await sql`
    create index projections_open on pipeline.projections (tenant_id, repo_id, issue_number, lane, id) where (status in ('pending', 'failed'))`.execute(
    db,
  );
  await sql`
    create table pipeline.projection_attempts (
      tenant_id bigint not null,
      projection_id bigint not null,
      started_at timestamptz not null,
      finished_at timestamptz not null,
      outcome text not null,
      error text,
      primary key (tenant_id, projection_id, started_at),
      foreign key (tenant_id, projection_id) references pipeline.projections(tenant_id, id) on delete cascade
    )`.execute(db);
  await sql`
    create table pipeline.dead_letters (
      tenant_id bigint not null,
      id uuid not null,
      repo_id bigint not null,
      issue_id bigint not null,
      issue_number integer not null,
      from_state text,
      target_state text not null,
      agent_name text,
      error text not null,
      cause jsonb not null,
      created_at timestamptz default pipeline.svc_now() not null,
      resolved_at timestamptz,
      resolved_by text,
      resolution text,
      primary key (tenant_id, id),
      foreign key (tenant_id, issue_id) references pipeline.issues(tenant_id, id)
    )`.execute(db);
  await sql`
    create index dead_letters_by_age on pipeline.dead_letters (created_at)`.execute(db);
  await sql`
    create index dead_letters_by_id on pipeline.dead_letters (id)`.execute(db);
  await sql`
    create index dead_letters_by_time on pipeline.dead_letters (created_at)`.execute(db);
  await sql`
    create index dead_letters_of_issue on pipeline.dead_letters (tenant_id, issue_id)`.execute(db);
  await sql`
    create index dead_letters_of_repo on pipeline.dead_letters (tenant_id, repo_id, issue_id)`.execute(db);
  await sql`
    create index dead_letters_open on pipeline.dead_letters (created_at desc, id) where (resolved_at is null)`.execute(
    db,
  );
  await sql`
    create index dead_letters_open_of_issue on pipeline.dead_letters (tenant_id, issue_id) where (resolved_at is null)`.execute(
    db,
  );
}
