import { type Kysely, sql } from 'kysely';

/** Tracks and strategies. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create sequence pipeline.track_id_seq`.execute(db);
  await sql`
    create table pipeline.tracks (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.track_id_seq') not null,
      repo_id bigint not null,
      name text not null,
      label text default '' not null,
      enabled boolean not null,
      cooldown_minutes integer not null,
      cadence_kind text default 'cooldown' not null,
      cron_expr text,
      weight double precision not null,
      proposal jsonb,
      active_version integer default 0 not null,
      latest_version integer default 0 not null,
      schedule_since timestamptz default pipeline.svc_now() not null,
      last_run_at timestamptz,
      next_run_at timestamptz,
      created_at timestamptz default pipeline.svc_now() not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      deleted_at timestamptz,
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create unique index tracks_by_name on pipeline.tracks (tenant_id, repo_id, name) where (deleted_at is null)`.execute(
    db,
  );
  await sql`
    create index tracks_due on pipeline.tracks (next_run_at, tenant_id, repo_id) where (next_run_at is not null)`.execute(
    db,
  );
  await sql`
    create table pipeline.track_prompts (
      tenant_id bigint not null,
      track_id bigint not null,
      version integer not null,
      seed_title text not null,
      seed_body text not null,
      instructions text not null,
      notes text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      created_by text,
      primary key (tenant_id, track_id, version),
      foreign key (tenant_id, track_id) references pipeline.tracks(tenant_id, id)
    )`.execute(db);
  await sql`
    create table pipeline.si_issues (
      tenant_id bigint not null,
      repo_id bigint not null,
      issue_number integer,
      track_name text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      completed_at timestamptz,
      id uuid default gen_random_uuid() not null,
      track_id bigint,
      prompt_version integer,
      size text,
      theme text,
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create unique index si_issues_by_number on pipeline.si_issues (tenant_id, repo_id, issue_number)`.execute(db);
  await sql`
    create index si_issues_open on pipeline.si_issues (tenant_id, repo_id, issue_number) where (completed_at is null)`.execute(
    db,
  );
  await sql`
    create index si_issues_recent on pipeline.si_issues (tenant_id, repo_id, created_at)`.execute(db);
  await sql`
    create table pipeline.strategy_charters (
      tenant_id bigint not null,
      repo_id bigint not null,
      version integer not null,
      goals text not null,
      envelope jsonb not null,
      author text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, repo_id, version),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create table pipeline.strategy_automation (
      tenant_id bigint not null,
      repo_id bigint not null,
      enabled boolean default false not null,
      due_at timestamptz,
      updated_at timestamptz,
      updated_by text,
      primary key (tenant_id, repo_id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create index strategy_automation_due on pipeline.strategy_automation (due_at) where (enabled and (due_at is not null))`.execute(
    db,
  );
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
      cost_usd numeric(24,6),
      proposed_by text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      approved_at timestamptz,
      approved_by text,
      activated_at timestamptz,
      superseded_at timestamptz,
      superseded_by integer,
      rejected_at timestamptz,
      rejected_by text,
      rejection_reason text,
      primary key (tenant_id, repo_id, version),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create index strategy_snapshots_by_status on pipeline.strategy_snapshots (tenant_id, repo_id, status, version)`.execute(
    db,
  );
  await sql`
    create unique index strategy_snapshots_once_a_week on pipeline.strategy_snapshots (tenant_id, repo_id, iso_week) where (iso_week is not null)`.execute(
    db,
  );
  await sql`
    create unique index strategy_snapshots_one_active on pipeline.strategy_snapshots (tenant_id, repo_id) where (status = 'active')`.execute(
    db,
  );
  await sql`
    create sequence pipeline.strategy_run_id_seq`.execute(db);
  await sql`
    create table pipeline.strategy_runs (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.strategy_run_id_seq') not null,
      repo_id bigint not null,
      iso_week text not null,
      outcome text not null,
      failure_reason text,
      cost_usd numeric(24,6),
      snapshot_version integer,
      next_due_at timestamptz not null,
      consecutive_failures integer not null,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create index strategy_runs_of_repo on pipeline.strategy_runs (tenant_id, repo_id, id)`.execute(db);
  await sql`
    create unique index strategy_runs_once_a_week on pipeline.strategy_runs (tenant_id, repo_id, iso_week) where (outcome <> 'failed')`.execute(
    db,
  );
}
