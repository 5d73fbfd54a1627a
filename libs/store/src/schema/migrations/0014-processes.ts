import { type Kysely, sql } from 'kysely';

/** The event stream, settings, and the leader of the loops. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create sequence pipeline.stream_outbox_id_seq`.execute(db);
  await sql`
    create table pipeline.stream_outbox (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.stream_outbox_id_seq') not null,
      event_type text not null,
      data jsonb not null,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create index stream_outbox_in_order on pipeline.stream_outbox (id)`.execute(db);
  await sql`
    create table pipeline.stream_events (
      id bigint not null,
      tenant_id bigint not null,
      event_type text not null,
      data jsonb not null,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create index stream_events_in_order on pipeline.stream_events (id)`.execute(db);
  await sql`
    create table pipeline.stream_counter (
      id integer default 1 not null,
      last_id bigint not null,
      heartbeat_at timestamptz,
      tenant_id bigint default 0 not null,
      constraint stream_counter_one_row check (id = 1),
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create table pipeline.settings (
      id integer default 1 primary key,
      version integer not null,
      body jsonb not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      constraint settings_one_row check (id = 1)
    )`.execute(db);
  await sql`
    create table pipeline.config_reloads (
      agent_name text not null,
      instance text not null,
      status text not null,
      applied_keys text[] not null,
      deferred_keys text[] not null,
      error text,
      error_code text,
      trigger text not null,
      at timestamptz not null,
      primary key (agent_name, instance)
    )`.execute(db);
  await sql`
    create table pipeline.leaders (
      name text primary key,
      epoch bigint not null,
      holder text not null,
      since timestamptz not null
    )`.execute(db);
  await sql`
    create table pipeline.trace_cursor (
      id smallint default 1 primary key,
      finished_at timestamptz not null,
      run_tenant_id bigint not null,
      run_id bigint not null,
      constraint trace_cursor_id_check check (id = 1)
    )`.execute(db);
  await sql`
    insert into pipeline.stream_counter (id, last_id) values (1, 0)`.execute(db);
}
