import { type Kysely, sql } from 'kysely';

/**
 * Restarts of agents, the audit log outside any repo, the author of a workflow, and the time of issues in their state.
 */
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
  // Actions on a repo are pipeline events of that repo; this table has the others, such as those on users, tokens and
  // agents.
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
  // Issues by time in state, oldest first. By the hour, because an index over the time itself would make every
  // transition a non-HOT update; most transitions out of short states happen within an hour.
  await sql`
    alter table pipeline.issues
    add column standing_since_hour timestamptz generated always as (
      case when state <> 'done' and not is_paused
      then date_bin('1 hour', state_entered_at, '2000-01-01 00:00:00+00') end) stored`.execute(db);
  await sql`
    create index issues_standing on pipeline.issues (standing_since_hour)
    where standing_since_hour is not null`.execute(db);
}
