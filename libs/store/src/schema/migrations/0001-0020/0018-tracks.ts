import { type Kysely, sql } from 'kysely';

/** Streams of self-improvement work, their prompts, and their issues. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence pipeline.track_id_seq`.execute(db);
  // A deleted track keeps its row: its issues still use its prompts.
  await sql`
    create table pipeline.tracks (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.track_id_seq'),
      repo_id bigint not null,
      name text not null,
      label text not null default '',
      enabled boolean not null,
      cooldown_minutes integer not null,
      cadence_kind text not null default 'cooldown',
      cron_expr text,
      weight double precision not null,
      proposal jsonb,
      active_version integer not null default 0,
      latest_version integer not null default 0,
      schedule_since timestamptz not null default pipeline.svc_now(),
      last_run_at timestamptz,
      next_run_at timestamptz,
      created_at timestamptz not null default pipeline.svc_now(),
      updated_at timestamptz not null default pipeline.svc_now(),
      deleted_at timestamptz,
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  await sql`
    create unique index tracks_by_name on pipeline.tracks (tenant_id, repo_id, name)
    where deleted_at is null`.execute(db);
  // The scheduler's only query; a disabled or deleted track has no next run.
  await sql`
    create index tracks_due on pipeline.tracks (next_run_at, tenant_id, repo_id)
    where next_run_at is not null`.execute(db);
  await sql`
    create table pipeline.track_prompts (
      tenant_id bigint not null,
      track_id bigint not null,
      version integer not null,
      seed_title text not null,
      seed_body text not null,
      instructions text not null,
      notes text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      created_by text,
      primary key (tenant_id, track_id, version),
      foreign key (tenant_id, track_id) references pipeline.tracks
    )`.execute(db);
  // An issue is requested before the host has assigned its number.
  await sql`
    alter table pipeline.si_issues
    add column id uuid not null default gen_random_uuid(),
    add column track_id bigint,
    add column prompt_version integer,
    add column size text,
    add column theme text`.execute(db);
  await sql`alter table pipeline.si_issues drop constraint si_issues_pkey`.execute(db);
  await sql`alter table pipeline.si_issues add primary key (tenant_id, id)`.execute(db);
  await sql`alter table pipeline.si_issues alter column issue_number drop not null`.execute(db);
  await sql`
    create unique index si_issues_by_number on pipeline.si_issues (tenant_id, repo_id, issue_number)`.execute(db);
  // Recent issues per track, for the shares.
  await sql`create index si_issues_recent on pipeline.si_issues (tenant_id, repo_id, created_at)`.execute(db);
}
