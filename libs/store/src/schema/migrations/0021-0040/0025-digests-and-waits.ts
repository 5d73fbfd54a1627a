import { type Kysely, sql } from 'kysely';

/**
 * The daily digest is sent like alerts: a message is about either. And the time since which a task was claimable is
 * stored.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.alert_deliveries
      alter column alert drop not null,
      add column digest jsonb,
      add constraint alert_deliveries_about_one check (num_nonnulls(alert, digest) = 1)`.execute(db);
  // Each channel gets a day's digest once, with any number of monitors.
  await sql`
    create unique index alert_deliveries_one_digest on pipeline.alert_deliveries (tenant_id, channel, episode_at)
    where type = 'digest.daily'`.execute(db);
  // Since when the task was claimable. A run keeps the value of its claim; earlier runs have none.
  await sql`
    alter table pipeline.tasks add column ready_at timestamptz not null default pipeline.svc_now()`.execute(db);
  await sql`alter table pipeline.runs add column ready_at timestamptz`.execute(db);
}
