import { type Kysely, sql } from 'kysely';

/** Messages about alerts to the configured channels, written with the alert and sent by one monitor. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.alert_deliveries (
      tenant_id bigint not null,
      id uuid not null,
      fingerprint text not null,
      episode_at timestamptz not null,
      channel text not null,
      type text not null,
      alert jsonb not null,
      status text not null default 'pending',
      attempts integer not null default 0,
      next_attempt_at timestamptz not null,
      error text,
      created_at timestamptz not null default pipeline.svc_now(),
      finished_at timestamptz,
      primary key (tenant_id, id)
    )`.execute(db);
  // The sender's only query. Completed messages leave it.
  await sql`
    create index alert_deliveries_due on pipeline.alert_deliveries (next_attempt_at)
    where status = 'pending'`.execute(db);
  // Whether a channel was recently notified of an alert, and of this episode.
  await sql`
    create index alert_deliveries_of_alert
    on pipeline.alert_deliveries (tenant_id, fingerprint, channel, created_at)`.execute(db);
  await sql`create index alert_deliveries_by_age on pipeline.alert_deliveries (created_at)`.execute(db);
  // Lists of alerts, newest first; the open ones are few, and the list of all is read from the end.
  await sql`create index alerts_by_sighting on pipeline.alerts (last_seen_at desc, id)`.execute(db);
  // Detectors of loops read all tenants, by time.
  await sql`
    create index runs_failed_lately on pipeline.runs (finished_at)
    where error_fingerprint is not null`.execute(db);
  await sql`create index dead_letters_by_age on pipeline.dead_letters (created_at)`.execute(db);
}
