import { type Kysely, sql } from 'kysely';

/** Retention finds old deliveries and worker sessions by their end, without reading the whole tables in each batch. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index webhook_deliveries_by_end on pipeline.webhook_deliveries (processed_at)
    where processed_at is not null`.execute(db);
  await sql`
    create index worker_periods_by_end on pipeline.worker_periods (ended_at) where ended_at is not null`.execute(db);
}
