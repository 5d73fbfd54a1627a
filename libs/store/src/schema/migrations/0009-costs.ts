import { type Kysely, sql } from 'kysely';
import { createPartitions } from './partitions.ts';

/** Model calls, their costs and prices, and the reported thresholds of budgets. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.agent_invocations (
      tenant_id bigint not null,
      run_id bigint not null,
      invocation_index integer not null,
      model text not null,
      provider text not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cache_read_tokens bigint not null,
      cache_write_tokens bigint not null,
      turns integer not null,
      cost_usd numeric(14,6),
      stop_reason text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      agent text,
      primary key (tenant_id, run_id, invocation_index)
    )`.execute(db);
  await sql`
    create index agent_invocations_by_time on pipeline.agent_invocations (tenant_id, created_at)`.execute(db);
  await sql`
    create index agent_invocations_unreported on pipeline.agent_invocations (tenant_id, created_at) where (cost_usd is null)`.execute(
    db,
  );
  await sql`
    create sequence pipeline.cost_event_id_seq`.execute(db);
  await sql`
    create table pipeline.cost_events (
      tenant_id bigint not null,
      created_at timestamptz default pipeline.svc_now() not null,
      id bigint default nextval('pipeline.cost_event_id_seq') not null,
      repo_id bigint not null,
      issue_id bigint,
      run_id bigint not null,
      invocation_index integer not null,
      agent text not null,
      model text not null,
      amount_usd numeric(14,6) not null,
      primary key (tenant_id, created_at, id)
    ) partition by range (created_at)`.execute(db);
  await sql`
    create index cost_events_of_repo on pipeline.cost_events (tenant_id, repo_id, created_at) include (amount_usd)`.execute(
    db,
  );
  await sql`
    create table pipeline.model_prices (
      pattern text primary key,
      input_usd numeric(12,6) not null,
      output_usd numeric(12,6) not null,
      cache_read_usd numeric(12,6) not null,
      cache_write_usd numeric(12,6) not null,
      updated_at timestamptz default pipeline.svc_now() not null
    )`.execute(db);
  await sql`
    create table pipeline.budget_days (
      tenant_id bigint not null,
      day date not null,
      told_percent integer,
      primary key (tenant_id, day),
      constraint daily_spend_tenant_id_fkey foreign key (tenant_id) references pipeline.tenants(id)
    ) with (fillfactor='50')`.execute(db);
  await sql`
    create index budget_days_told on pipeline.budget_days (tenant_id, day) where (told_percent is not null)`.execute(
    db,
  );
  await sql`
    insert into pipeline.model_prices (pattern, input_usd, output_usd, cache_read_usd, cache_write_usd)
    values
      ('claude-opus-4*', 15, 75, 1.5, 18.75),
      ('claude-sonnet-4*', 3, 15, 0.3, 3.75),
      ('claude-haiku-4*', 1, 5, 0.1, 1.25),
      ('claude-3-5-haiku*', 0.8, 4, 0.08, 1),
      ('gpt-5*', 1.25, 10, 0.125, 1.25),
      ('gpt-5-mini*', 0.25, 2, 0.025, 0.25),
      ('gpt-4.1*', 2, 8, 0.5, 2),
      ('gpt-4.1-mini*', 0.4, 1.6, 0.1, 0.4),
      ('gemini-2.5-pro*', 1.25, 10, 0.31, 1.25),
      ('gemini-2.5-flash*', 0.3, 2.5, 0.075, 0.3),
      ('scripted-demo*', 0, 0, 0, 0),
      ('*', 15, 75, 1.5, 18.75)`.execute(db);
  for (const table of ['cost_events']) await createPartitions(db, table);
}
