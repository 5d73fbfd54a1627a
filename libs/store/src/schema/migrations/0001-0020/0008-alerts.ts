import { type Kysely, sql } from 'kysely';

/** Alerts, and the inputs of the limits that raise them: spending, and time spent waiting for a quota. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // No foreign key to tenants: number 0, which no tenant has, owns alerts of the whole deployment. A null could not be
  // part of a key, and a real tenant would see alerts of others.
  await sql`
    create table pipeline.alerts (
      tenant_id bigint not null,
      id uuid not null,
      fingerprint text not null,
      severity text not null,
      detector text not null,
      message text not null,
      repo text,
      issue_number integer,
      worker_id text,
      value double precision,
      threshold double precision,
      first_seen_at timestamptz not null,
      last_seen_at timestamptz not null,
      count integer not null default 1,
      resolved_at timestamptz,
      primary key (tenant_id, id),
      unique (tenant_id, fingerprint)
    ) with (fillfactor = 80)`.execute(db);
  // Open alerts. Raising an alert again changes no column of it.
  await sql`create index alerts_open on pipeline.alerts (tenant_id, id) where resolved_at is null`.execute(db);
  // One row for each tenant and UTC day, updated by every cost event: free space on its page keeps those updates in
  // place.
  await sql`
    create table pipeline.daily_spend (
      tenant_id bigint not null references pipeline.tenants,
      day date not null,
      spent_usd numeric(14,6) not null,
      last_repo_id bigint not null,
      told_percent integer,
      primary key (tenant_id, day)
    ) with (fillfactor = 50)`.execute(db);
  // The budget loop reads today, and days with a reported threshold: past days do not slow it down.
  await sql`create index daily_spend_by_day on pipeline.daily_spend (day)`.execute(db);
  await sql`
    create index daily_spend_told on pipeline.daily_spend (tenant_id, day)
    where told_percent is not null`.execute(db);
  await sql`
    insert into pipeline.daily_spend (tenant_id, day, spent_usd, last_repo_id)
    select tenant_id, (created_at at time zone 'UTC')::date, sum(amount_usd), max(repo_id)
    from pipeline.cost_events group by 1, 2`.execute(db);
  await sql`
    alter table pipeline.issues
    add column told_budget_percent integer,
    add column quota_waited_ms bigint not null default 0`.execute(db);
  await sql`
    create index issues_told_of_budget on pipeline.issues (tenant_id, id)
    where told_budget_percent is not null`.execute(db);
  await sql`
    create index tasks_held_by_budget on pipeline.tasks (tenant_id, priority, turn) where held = 'budget'`.execute(db);
  await sql`create index repos_limited on pipeline.repos (tenant_id) where pool_size is not null`.execute(db);
}
