import { type Kysely, sql } from 'kysely';

/** Charters, proposed and applied changes of the tracks, and the weekly cycle. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.strategy_charters (
      tenant_id bigint not null,
      repo_id bigint not null,
      version integer not null,
      goals text not null,
      envelope jsonb not null,
      author text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, repo_id, version),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  await createSnapshots(db);
  // Its row is also the lock for all changes of a repo's strategy.
  await sql`
    create table pipeline.strategy_automation (
      tenant_id bigint not null,
      repo_id bigint not null,
      enabled boolean not null default false,
      due_at timestamptz,
      updated_at timestamptz,
      updated_by text,
      primary key (tenant_id, repo_id),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  // The loop's only query.
  await sql`
    create index strategy_automation_due on pipeline.strategy_automation (due_at)
    where enabled and due_at is not null`.execute(db);
  await sql`create sequence pipeline.strategy_run_id_seq`.execute(db);
  await sql`
    create table pipeline.strategy_runs (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.strategy_run_id_seq'),
      repo_id bigint not null,
      iso_week text not null,
      outcome text not null,
      failure_reason text,
      cost_usd numeric(14,6),
      snapshot_version integer,
      next_due_at timestamptz not null,
      consecutive_failures integer not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  // A failed cycle is retried in its week; an ended one is not.
  await sql`
    create unique index strategy_runs_once_a_week on pipeline.strategy_runs (tenant_id, repo_id, iso_week)
    where outcome <> 'failed'`.execute(db);
  await sql`create index strategy_runs_of_repo on pipeline.strategy_runs (tenant_id, repo_id, id)`.execute(db);
}

async function createSnapshots(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.strategy_snapshots (
      tenant_id bigint not null,
      repo_id bigint not null,
      version integer not null,
      status text not null,
      source text not null,
      intent text not null,
      rationale text not null,
      parent_version integer,
      charter_version integer,
      iso_week text,
      changes jsonb not null,
      slate jsonb not null,
      risk jsonb not null,
      evidence jsonb not null,
      cost_usd numeric(14,6),
      proposed_by text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      approved_at timestamptz,
      approved_by text,
      activated_at timestamptz,
      superseded_at timestamptz,
      superseded_by integer,
      rejected_at timestamptz,
      rejected_by text,
      rejection_reason text,
      primary key (tenant_id, repo_id, version),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  // Lists filter by status; superseded snapshots grow without limit.
  await sql`
    create index strategy_snapshots_by_status on pipeline.strategy_snapshots (tenant_id, repo_id, status, version)`.execute(
    db,
  );
  await sql`
    create unique index strategy_snapshots_one_active on pipeline.strategy_snapshots (tenant_id, repo_id)
    where status = 'active'`.execute(db);
  await sql`
    create unique index strategy_snapshots_once_a_week on pipeline.strategy_snapshots (tenant_id, repo_id, iso_week)
    where iso_week is not null`.execute(db);
}
