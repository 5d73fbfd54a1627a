import { type Kysely, sql } from 'kysely';

/** Restarts of agents, the log of what is done outside any repo, who made a workflow, and how long issues stand. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Agents are named by the configuration and belong to no tenant.
  await sql`
    create table pipeline.agent_restarts (
      agent text primary key,
      attempts integer not null default 0,
      restarts integer not null default 0,
      last_restart_at timestamptz,
      last_error text
    )`.execute(db);
  // What concerns a repo is a pipeline event of that repo; this is the rest, such as users, tokens and agents.
  await sql`create sequence pipeline.audit_log_id_seq`.execute(db);
  await sql`
    create table pipeline.audit_log (
      id bigint primary key default nextval('pipeline.audit_log_id_seq'),
      at timestamptz not null default pipeline.svc_now(),
      actor_type text not null,
      actor_id text not null,
      action text not null,
      subject text not null,
      reason text,
      details jsonb not null
    )`.execute(db);
  await sql`
    alter table pipeline.workflow_snapshots
    add column created_by text,
    add column activated_at timestamptz,
    add column activated_by text`.execute(db);
  // Who stands too long, from the oldest on. By the hour, for an index over the time itself would make every move of
  // an issue a non-HOT update; most moves of the quick states stay within an hour.
  await sql`
    alter table pipeline.issues
    add column standing_since_hour timestamptz generated always as (
      case when state <> 'done' and not is_paused
      then date_bin('1 hour', state_entered_at, '2000-01-01 00:00:00+00') end) stored`.execute(db);
  await sql`
    create index issues_standing on pipeline.issues (standing_since_hour)
    where standing_since_hour is not null`.execute(db);
}
