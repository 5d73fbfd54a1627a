import { type Kysely, sql } from 'kysely';

/**
 * Prepares the event stream for distribution by tenant, and distributes it where other tables are distributed. The
 * counter and heartbeats belong to tenant 0. Events keep their ids; ids are unique because they come from the counter.
 * Earlier releases run on this schema too.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.stream_counter add column tenant_id bigint not null default 0`.execute(db);
  await sql`alter table pipeline.stream_counter drop constraint stream_counter_pkey`.execute(db);
  await sql`alter table pipeline.stream_counter add constraint stream_counter_pkey primary key (tenant_id, id)`.execute(
    db,
  );
  await sql`alter table pipeline.stream_events drop constraint stream_events_pkey`.execute(db);
  await sql`alter table pipeline.stream_events add constraint stream_events_pkey primary key (tenant_id, id)`.execute(
    db,
  );
  await sql`create index stream_events_in_order on pipeline.stream_events (id)`.execute(db);
  for (const table of ['stream_outbox', 'stream_events', 'stream_counter']) {
    await sql`select pipeline.distribute_table(${sql.lit(table)})`.execute(db);
  }
}
