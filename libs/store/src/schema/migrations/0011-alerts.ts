import { type Kysely, sql } from 'kysely';

/** Alerts and their deliveries. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.alerts (
      tenant_id bigint not null,
      id uuid not null,
      fingerprint text not null,
      severity text not null,
      detector text not null,
      message text not null,
      repo text,
      issue_number integer,
      worker_id text,
      value double precision,
      threshold double precision,
      first_seen_at timestamptz not null,
      last_seen_at timestamptz not null,
      count integer default 1 not null,
      resolved_at timestamptz,
      primary key (tenant_id, id),
      constraint alerts_tenant_id_fingerprint_key unique (tenant_id, fingerprint)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create index alerts_by_sighting on pipeline.alerts (last_seen_at desc, id)`.execute(db);
  await sql`
    create index alerts_open on pipeline.alerts (tenant_id, id) where (resolved_at is null)`.execute(db);
  await sql`
    create table pipeline.alert_deliveries (
      tenant_id bigint not null,
      id uuid not null,
      fingerprint text not null,
      episode_at timestamptz not null,
      channel text not null,
      type text not null,
      alert jsonb,
      status text default 'pending' not null,
      attempts integer default 0 not null,
      next_attempt_at timestamptz not null,
      error text,
      created_at timestamptz default pipeline.svc_now() not null,
      finished_at timestamptz,
      digest jsonb,
      constraint alert_deliveries_about_one check (num_nonnulls(alert, digest) = 1),
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create index alert_deliveries_by_age on pipeline.alert_deliveries (created_at)`.execute(db);
  await sql`
    create index alert_deliveries_due on pipeline.alert_deliveries (next_attempt_at) where (status = 'pending')`.execute(
    db,
  );
  await sql`
    create index alert_deliveries_of_alert on pipeline.alert_deliveries (tenant_id, fingerprint, channel, created_at)`.execute(
    db,
  );
  await sql`
    create unique index alert_deliveries_one_digest on pipeline.alert_deliveries (tenant_id, channel, episode_at) where (type = 'digest.daily')`.execute(
    db,
  );
  await sql`
    create table pipeline.loop_problems (
      process text not null,
      loop text not null,
      problem text not null,
      failures integer not null,
      error text,
      since timestamptz not null,
      seen_at timestamptz not null,
      constraint loop_problems_problem_check check (problem in ('failing', 'late')),
      primary key (process, loop)
    )`.execute(db);
}
