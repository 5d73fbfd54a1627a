import { type Kysely, sql } from 'kysely';

/** Sums of closed hours, by which figures are computed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.closed_facts (
      facts text primary key,
      until timestamptz not null
    )`.execute(db);
  await sql`
    create table pipeline.cost_sums (
      tenant_id bigint not null,
      repo_id bigint not null,
      agent text not null,
      model text not null,
      provider text not null,
      grain text not null,
      at timestamptz not null,
      usd numeric(30,6) not null,
      invocations bigint not null,
      input_tokens numeric(38,0) not null,
      output_tokens numeric(38,0) not null,
      cache_read_tokens numeric(38,0) not null,
      cache_write_tokens numeric(38,0) not null,
      max_turns bigint not null,
      no_progress bigint not null,
      unreported_costs bigint default 0 not null,
      primary key (tenant_id, repo_id, grain, at, agent, model, provider)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create table pipeline.event_counts (
      tenant_id bigint not null,
      repo_id bigint not null,
      event_type text not null,
      grain text not null,
      at timestamptz not null,
      n bigint not null,
      primary key (tenant_id, repo_id, grain, event_type, at)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create index event_counts_by_time on pipeline.event_counts using brin (at)`.execute(db);
  await sql`
    create sequence pipeline.issue_count_delta_id_seq`.execute(db);
  await sql`
    create table pipeline.issue_count_deltas (
      tenant_id bigint not null,
      repo_id bigint not null,
      id bigint default nextval('pipeline.issue_count_delta_id_seq') not null,
      state text not null,
      is_paused boolean not null,
      is_blocked boolean not null,
      n integer not null,
      primary key (tenant_id, repo_id, id)
    ) with (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_cost_delay='0')`.execute(
    db,
  );
  await sql`
    create table pipeline.issue_counts (
      tenant_id bigint not null,
      repo_id bigint not null,
      state text not null,
      is_paused boolean not null,
      is_blocked boolean not null,
      n bigint not null,
      writes bigint not null,
      primary key (tenant_id, repo_id, state, is_paused, is_blocked),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    ) with (fillfactor='70')`.execute(db);
  await sql`
    create table pipeline.issue_list (
      tenant_id bigint not null,
      repo_id bigint not null,
      issue_number integer not null,
      state text not null,
      is_paused boolean not null,
      is_blocked boolean not null,
      state_entered_at timestamptz not null,
      body text,
      big_body text,
      written_at timestamptz not null,
      primary key (tenant_id, repo_id, issue_number),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    ) with (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.02')`.execute(db);
  await sql`
    create index issue_list_blocked on pipeline.issue_list (tenant_id, repo_id, state_entered_at, issue_number) where (is_blocked and (state <> 'done'))`.execute(
    db,
  );
  await sql`
    create index issue_list_by_state on pipeline.issue_list (tenant_id, repo_id, state, state_entered_at, issue_number)`.execute(
    db,
  );
  await sql`
    create index issue_list_in_state on pipeline.issue_list (state, state_entered_at, tenant_id, repo_id, issue_number)`.execute(
    db,
  );
  await sql`
    create index issue_list_open on pipeline.issue_list (tenant_id, repo_id, state_entered_at, issue_number) include (body) where (state <> 'done')`.execute(
    db,
  );
  await sql`
    create index issue_list_paused on pipeline.issue_list (tenant_id, repo_id, state_entered_at, issue_number) where (is_paused and (state <> 'done'))`.execute(
    db,
  );
  await sql`
    create table pipeline.kpi_snapshots (
      tenant_id bigint not null,
      repo_id bigint not null,
      kpi text not null,
      day date not null,
      computed_at timestamptz not null,
      value double precision,
      baseline_value double precision,
      relative_delta double precision,
      sample_size integer not null,
      baseline_sample_size integer not null,
      regressed boolean not null,
      magnitude text not null,
      direction text not null,
      primary key (tenant_id, repo_id, kpi, day),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id) on delete cascade
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create index kpi_snapshots_by_day on pipeline.kpi_snapshots (day)`.execute(db);
  await sql`
    create sequence pipeline.late_cost_id_seq`.execute(db);
  await sql`
    create table pipeline.late_costs (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.late_cost_id_seq') not null,
      repo_id bigint not null,
      hour timestamptz not null,
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create table pipeline.state_minutes (
      tenant_id bigint not null,
      repo_id bigint not null,
      state text not null,
      minute timestamptz not null,
      entered bigint not null,
      departed bigint not null,
      reached bigint not null,
      primary key (tenant_id, repo_id, state, minute)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create index state_minutes_by_time on pipeline.state_minutes using brin (minute)`.execute(db);
  await sql`
    create table pipeline.stay_hours (
      tenant_id bigint not null,
      repo_id bigint not null,
      state text not null,
      hour timestamptz not null,
      bucket integer not null,
      n bigint not null,
      primary key (tenant_id, repo_id, state, hour, bucket)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create index stay_hours_by_time on pipeline.stay_hours using brin (hour)`.execute(db);
  await sql`
    create table pipeline.task_counts (
      tenant_id bigint not null,
      repo_id bigint not null,
      event_type text not null,
      task_type text not null,
      grain text not null,
      at timestamptz not null,
      n bigint not null,
      primary key (tenant_id, repo_id, grain, at, event_type, task_type)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create table pipeline.transition_counts (
      tenant_id bigint not null,
      repo_id bigint not null,
      from_state text not null,
      to_state text not null,
      grain text not null,
      at timestamptz not null,
      n bigint not null,
      primary key (tenant_id, repo_id, grain, at, from_state, to_state)
    ) with (fillfactor='80')`.execute(db);
}
