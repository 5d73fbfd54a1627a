import { type Kysely, sql } from 'kysely';

/** What the day came to is sent like alerts: a message is about either. And since when a task could be claimed is kept. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.alert_deliveries
      alter column alert drop not null,
      add column digest jsonb,
      add constraint alert_deliveries_about_one check (num_nonnulls(alert, digest) = 1)`.execute(db);
  // Each channel hears of a day once, however many monitors look.
  await sql`
    create unique index alert_deliveries_one_digest on pipeline.alert_deliveries (tenant_id, channel, episode_at)
    where type = 'digest.daily'`.execute(db);
  // Since when nothing but a worker is missing. A run keeps what its claim found; runs of the past have none.
  await sql`
    alter table pipeline.tasks add column ready_at timestamptz not null default pipeline.svc_now()`.execute(db);
  await sql`alter table pipeline.runs add column ready_at timestamptz`.execute(db);
}
