import { type Kysely, sql } from 'kysely';

/**
 * Fencing of leaders: `leaders` holds the epoch (fencing token) of each leader lock, `projections.attempt_epoch` the
 * epoch of the leader that began the attempt. `loop_problems` holds the background loops that fail or hang, by process.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.leaders (
      name text primary key,
      epoch bigint not null,
      holder text not null,
      since timestamptz not null
    )`.execute(db);
  await takeLeader(db);
  await assertLeader(db);
  await sql`alter table pipeline.projections add column attempt_epoch bigint`.execute(db);
  await sql`
    create table pipeline.loop_problems (
      process text not null,
      loop text not null,
      problem text not null check (problem in ('failing', 'late')),
      failures integer not null,
      error text,
      since timestamptz not null,
      seen_at timestamptz not null,
      primary key (process, loop)
    )`.execute(db);
}

/**
 * Returns the new epoch, or null while another session holds the lock. Increments the epoch under an exclusive lock, so
 * it waits for transactions of the former leader that are still open; after 2 s it gives up until the next call. A
 * session lock survives a rollback: the handler releases it.
 */
const takeLeader = (db: Kysely<unknown>): Promise<unknown> =>
  sql`
    create function pipeline.take_leader(leader_name text, leader_holder text) returns bigint
    language plpgsql set lock_timeout = '2s' as $$
    declare
      session_key constant bigint := hashtextextended('pipeline.lead:' || leader_name, 0);
      new_epoch bigint;
    begin
      if not pg_try_advisory_lock(session_key) then return null; end if;
      begin
        perform pg_advisory_xact_lock(hashtextextended('pipeline.fence:' || leader_name, 0));
        insert into pipeline.leaders as l (name, epoch, holder, since)
          values (leader_name, 1, leader_holder, pipeline.svc_now())
          on conflict (name) do update set epoch = l.epoch + 1, holder = excluded.holder, since = excluded.since
          returning l.epoch into new_epoch;
        return new_epoch;
      exception when others then
        perform pg_advisory_unlock(session_key);
        if sqlstate = '55P03' then return null; end if;
        raise;
      end;
    end $$`.execute(db);

/**
 * Fails with PL001 when a later leader has taken over. The shared lock lasts until the transaction ends: no successor
 * takes over before that, so what the transaction writes is written while its process leads.
 */
const assertLeader = (db: Kysely<unknown>): Promise<unknown> =>
  sql`
    create function pipeline.assert_leader(leader_name text, leader_epoch bigint) returns void
    language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(hashtextextended('pipeline.fence:' || leader_name, 0));
      if not exists (select from pipeline.leaders where name = leader_name and epoch = leader_epoch) then
        raise exception 'leadership of % has ended: epoch % is over', leader_name, leader_epoch using errcode = 'PL001';
      end if;
    end $$`.execute(db);
