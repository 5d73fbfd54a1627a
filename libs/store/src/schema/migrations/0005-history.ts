import { type Kysely, sql } from 'kysely';
import { createPartitions } from './partitions.ts';

/** Append-only history, two of its tables partitioned by month. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create sequence pipeline.transition_id_seq`.execute(db);
  await sql`
    create table pipeline.transitions (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.transition_id_seq') not null,
      repo_id bigint not null,
      issue_id bigint not null,
      from_state text,
      to_state text not null,
      trigger text not null,
      forced boolean default false not null,
      agent text,
      actor_type text not null,
      actor_id text,
      reason text,
      duration_in_from_ms bigint,
      at timestamptz default pipeline.svc_now() not null,
      admitted_at timestamptz not null,
      is_first boolean not null,
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create index transitions_by_state on pipeline.transitions (to_state, at)`.execute(db);
  await sql`
    create index transitions_of_issue on pipeline.transitions (tenant_id, issue_id, id)`.execute(db);
  await sql`
    create index transitions_of_repo on pipeline.transitions (tenant_id, repo_id, at)`.execute(db);
  await sql`
    create index transitions_out_of_done on pipeline.transitions (at) where (from_state = 'done')`.execute(db);
  await sql`
    create sequence pipeline.issue_event_id_seq`.execute(db);
  await sql`
    create table pipeline.issue_events (
      tenant_id bigint not null,
      created_at timestamptz default pipeline.svc_now() not null,
      id bigint default nextval('pipeline.issue_event_id_seq') not null,
      issue_id bigint not null,
      actor_type text not null,
      actor_id text,
      status text not null,
      details jsonb,
      state text not null,
      primary key (tenant_id, created_at, id)
    ) partition by range (created_at)`.execute(db);
  await sql`
    create index issue_events_of_issue on pipeline.issue_events (tenant_id, issue_id, created_at, id)`.execute(db);
  await sql`
    create sequence pipeline.pipeline_event_id_seq`.execute(db);
  await sql`
    create table pipeline.pipeline_events (
      tenant_id bigint not null,
      created_at timestamptz default pipeline.svc_now() not null,
      id bigint default nextval('pipeline.pipeline_event_id_seq') not null,
      repo_id bigint not null,
      issue_id bigint,
      issue_number integer,
      event_type text not null,
      agent text not null,
      payload jsonb not null,
      primary key (tenant_id, created_at, id)
    ) partition by range (created_at)`.execute(db);
  await sql`
    create index pipeline_events_of_issue on pipeline.pipeline_events (tenant_id, issue_id, created_at, id)`.execute(
    db,
  );
  await sql`
    create index pipeline_events_of_repo on pipeline.pipeline_events (tenant_id, repo_id, created_at, id)`.execute(db);
  await sql`
    create index pipeline_events_of_type on pipeline.pipeline_events (tenant_id, event_type, created_at, id) where (event_type <> all (array['state_transition', 'task_enqueued', 'task_claimed', 'task_completed', 'task_failed']))`.execute(
    db,
  );
  for (const table of ['issue_events', 'pipeline_events']) await createPartitions(db, table);
}
