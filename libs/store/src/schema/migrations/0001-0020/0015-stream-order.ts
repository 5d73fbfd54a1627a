import { type Kysely, sql } from 'kysely';

/**
 * The stream's outbox gets its order from the server: facts about one issue are written one after the other under the
 * lock of its row, so a sequence number follows cause and effect, whatever the clocks of the writers. Rows stay in the
 * outbox for milliseconds, so it is recreated. Heartbeats share the counter.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence pipeline.stream_outbox_id_seq`.execute(db);
  await sql`drop table pipeline.stream_outbox`.execute(db);
  await sql`
    create table pipeline.stream_outbox (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.stream_outbox_id_seq'),
      event_type text not null,
      data jsonb not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`create index stream_outbox_in_order on pipeline.stream_outbox (id)`.execute(db);
  await sql`alter table pipeline.stream_counter add column heartbeat_at timestamptz`.execute(db);
}
