import { type Kysely, sql } from 'kysely';

/** Host writes (projections), dead letters, and received webhooks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence pipeline.projection_id_seq`.execute(db);
  await sql`
    create table pipeline.projections (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.projection_id_seq'),
      repo_id bigint not null,
      issue_id bigint,
      issue_number integer not null,
      lane text not null,
      action jsonb not null,
      effect text,
      status text not null default 'pending',
      attempts integer not null default 0,
      max_attempts integer not null,
      client_type text not null,
      retry_after timestamptz,
      attempt_started_at timestamptz,
      error text,
      result jsonb,
      idempotency_key text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      updated_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      unique (tenant_id, idempotency_key),
      foreign key (tenant_id, repo_id) references pipeline.repos
    ) with (fillfactor = 80)`.execute(db);
  // The executor's only query: the oldest entry of each lane that is pending or blocks its lane.
  await sql`
    create index projections_open on pipeline.projections (tenant_id, repo_id, issue_number, lane, id)
    where status in ('pending', 'failed')`.execute(db);
  await sql`create index projections_by_status on pipeline.projections (status, updated_at)`.execute(db);
  await sql`create index projections_by_id on pipeline.projections (id)`.execute(db);
  await sql`
    create table pipeline.projection_attempts (
      tenant_id bigint not null,
      projection_id bigint not null,
      started_at timestamptz not null,
      finished_at timestamptz not null,
      outcome text not null,
      error text,
      primary key (tenant_id, projection_id, started_at),
      foreign key (tenant_id, projection_id) references pipeline.projections on delete cascade
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
      created_at timestamptz not null default pipeline.svc_now(),
      resolved_at timestamptz,
      resolved_by text,
      resolution text,
      primary key (tenant_id, id),
      foreign key (tenant_id, issue_id) references pipeline.issues
    )`.execute(db);
  await sql`create index dead_letters_by_id on pipeline.dead_letters (id)`.execute(db);
  // Lists and counts read unresolved dead letters only, newest first; resolved ones are kept for the audit.
  await sql`
    create index dead_letters_open on pipeline.dead_letters (created_at desc, id) where resolved_at is null`.execute(
    db,
  );
  await sql`
    create index dead_letters_open_of_issue on pipeline.dead_letters (tenant_id, issue_id)
    where resolved_at is null`.execute(db);
  // The inbox. Local to the coordinator: a delivery is stored before its tenant is known. Its key makes a redelivery a
  // no-op; the intake loop, which may query the host, applies it.
  await sql`
    create table pipeline.webhook_deliveries (
      delivery_id text primary key,
      event text not null,
      events jsonb not null,
      received_at timestamptz not null default pipeline.svc_now(),
      processed_at timestamptz,
      attempts integer not null default 0,
      retry_after timestamptz,
      error text
    )`.execute(db);
  await sql`
    create index webhook_deliveries_open on pipeline.webhook_deliveries (received_at)
    where processed_at is null`.execute(db);
}
