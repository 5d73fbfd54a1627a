import { type Kysely, sql } from 'kysely';

/** Periods of workers: online, silent, stalled. Busy time comes from `runs`, so no claim writes a period. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.workers
    add column finishing boolean not null default false,
    add column stalled_since timestamptz,
    add column left_at timestamptz`.execute(db);
  await sql`update pipeline.workers set left_at = last_heartbeat_at where status = 'offline'`.execute(db);
  // Heartbeats change rows in place: none of these columns is among those that every heartbeat writes.
  await sql`alter table pipeline.workers set (fillfactor = 70)`.execute(db);
  await sql`create index workers_by_id on pipeline.workers (id)`.execute(db);
  // The fleet for operators; names that are never used again do not slow it down.
  await sql`create index workers_on_floor on pipeline.workers (tenant_id, id) where left_at is null`.execute(db);
  await sql`
    create table pipeline.worker_periods (
      tenant_id bigint not null,
      worker_id text not null,
      kind text not null,
      started_at timestamptz not null,
      ended_at timestamptz,
      primary key (tenant_id, worker_id, kind, started_at),
      foreign key (tenant_id, worker_id) references pipeline.workers on delete cascade
    )`.execute(db);
  await sql`
    create unique index worker_periods_open on pipeline.worker_periods (tenant_id, worker_id, kind)
    where ended_at is null`.execute(db);
  // Degraded time of the whole fleet is read by time. A period counts for an hour at most, so its start is enough.
  await sql`
    create index worker_periods_degraded on pipeline.worker_periods (started_at)
    where kind <> 'online'`.execute(db);
  await sql`
    insert into pipeline.worker_periods (tenant_id, worker_id, kind, started_at)
    select tenant_id, id, 'online', registered_at from pipeline.workers where left_at is null`.execute(db);
  await sql`
    create index tasks_of_worker on pipeline.tasks (tenant_id, claimed_by) where status = 'claimed'`.execute(db);
  // Both over claimed_at, which never changes: over finished_at the end of every run would update all indexes.
  await sql`create index runs_of_worker on pipeline.runs (tenant_id, worker_id, claimed_at)`.execute(db);
  await sql`create index runs_of_agent on pipeline.runs (tenant_id, repo_id, agent, claimed_at)`.execute(db);
}
