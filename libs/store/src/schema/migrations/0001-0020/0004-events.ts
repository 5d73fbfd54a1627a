import { type Kysely, sql } from 'kysely';

const MONTHS_AHEAD = 3;

/**
 * Append-only history, partitioned by month. Keys must contain the time, so nothing else is unique here; rows are
 * written only after the check of a claim or inside the transaction of the fact.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['pipeline_event_id', 'issue_event_id', 'cost_event_id']) {
    await sql`create sequence pipeline.${sql.ref(`${name}_seq`)}`.execute(db);
  }
  await sql`
    create table pipeline.pipeline_events (
      tenant_id bigint not null,
      created_at timestamptz not null default pipeline.svc_now(),
      id bigint not null default nextval('pipeline.pipeline_event_id_seq'),
      repo_id bigint not null,
      issue_id bigint,
      issue_number integer,
      event_type text not null,
      agent text not null,
      payload jsonb not null,
      primary key (tenant_id, created_at, id)
    ) partition by range (created_at)`.execute(db);
  await sql`create index pipeline_events_of_repo on pipeline.pipeline_events (tenant_id, repo_id, created_at, id)`.execute(
    db,
  );
  await sql`
    create table pipeline.issue_events (
      tenant_id bigint not null,
      created_at timestamptz not null default pipeline.svc_now(),
      id bigint not null default nextval('pipeline.issue_event_id_seq'),
      issue_id bigint not null,
      actor_type text not null,
      actor_id text,
      status text not null,
      details jsonb,
      state text not null,
      primary key (tenant_id, created_at, id)
    ) partition by range (created_at)`.execute(db);
  await sql`create index issue_events_of_issue on pipeline.issue_events (tenant_id, issue_id, created_at, id)`.execute(
    db,
  );
  await sql`
    create table pipeline.cost_events (
      tenant_id bigint not null,
      created_at timestamptz not null default pipeline.svc_now(),
      id bigint not null default nextval('pipeline.cost_event_id_seq'),
      repo_id bigint not null,
      issue_id bigint,
      run_id bigint not null,
      invocation_index integer not null,
      agent text not null,
      model text not null,
      amount_usd numeric(14,6) not null,
      primary key (tenant_id, created_at, id)
    ) partition by range (created_at)`.execute(db);
  // Keyed by the task's own time, so that a batch sent twice lands on the rows it made.
  await sql`
    create table pipeline.agent_messages (
      tenant_id bigint not null,
      task_created_at timestamptz not null,
      task_id uuid not null,
      invocation_index integer not null,
      sequence integer not null,
      issue_id bigint,
      agent text not null,
      role text not null,
      subtype text not null,
      tool_name text,
      tool_input jsonb,
      tool_output jsonb,
      content text,
      truncated boolean not null,
      created_at timestamptz not null,
      primary key (tenant_id, task_created_at, task_id, invocation_index, sequence)
    ) partition by range (task_created_at)`.execute(db);
  await sql`
    create index agent_messages_of_issue on pipeline.agent_messages (tenant_id, issue_id, task_created_at)`.execute(db);
  for (const table of ['pipeline_events', 'issue_events', 'cost_events', 'agent_messages']) {
    await sql`
      create table pipeline.${sql.ref(`${table}_default`)} partition of pipeline.${sql.ref(table)} default`.execute(db);
    for (let month = 0; month <= MONTHS_AHEAD; month += 1) await createMonth(db, table, month);
  }
  await createStream(db);
}

async function createMonth(db: Kysely<unknown>, table: string, ahead: number): Promise<void> {
  const today = new Date();
  const from = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead, 1));
  const to = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead + 1, 1));
  const name = `${table}_${from.toISOString().slice(0, 7).replace('-', '_')}`;
  await sql`
    create table pipeline.${sql.ref(name)} partition of pipeline.${sql.ref(table)}
    for values from (${sql.lit(from.toISOString())}) to (${sql.lit(to.toISOString())})`.execute(db);
}

/**
 * Writers insert facts into the outbox, unordered, in the transaction of the fact. A sequencer assigns ids that
 * strictly increase in commit order.
 */
async function createStream(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.stream_outbox (
      tenant_id bigint not null,
      id uuid not null,
      event_type text not null,
      data jsonb not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create table pipeline.stream_events (
      id bigint primary key,
      tenant_id bigint not null,
      event_type text not null,
      data jsonb not null,
      created_at timestamptz not null default pipeline.svc_now()
    )`.execute(db);
  await sql`
    create table pipeline.stream_counter (
      id integer primary key default 1,
      last_id bigint not null,
      constraint stream_counter_one_row check (id = 1)
    )`.execute(db);
  await sql`insert into pipeline.stream_counter (id, last_id) values (1, 0)`.execute(db);
}
