import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** The types of events that report facts; heartbeats report only that the stream is alive. */
const STREAM_FACTS = ['state-transition', 'cost-update', 'worker-status', 'alert', 'issue-status'] as const;
export type StreamFact = (typeof STREAM_FACTS)[number];

/** An event as every replica delivers it. */
export interface StreamEvent {
  id: number;
  tenantId: number;
  type: StreamFact | 'heartbeat';
  data: Record<string, unknown>;
  /** Time at which the fact was written. */
  at: string;
}

/** Maximum number of events per statement. */
export const STREAM_BATCH = 500;
/** Older events are deleted: a client that was away for longer reads the tables. */
const KEPT = 10_000;
/** Distance in ids between deletions of old events. */
const SWEEP_EVERY = 1_000;

/** The tenant of the counter and of heartbeats. */
const FLEET = sql.lit(0);

// One process at a time numbers events: the transaction-level lock is freed even if the process dies. It is taken
// inside the statement, so the snapshot may be older than the lock: rows that another process has moved meanwhile are
// locked, found deleted and skipped, and the counter is read at its current value. The order of ids rests on the row of
// the counter, which stays locked until the commit; the advisory lock only keeps others from waiting for it.
const LOCK = sql`pg_try_advisory_xact_lock(hashtextextended('pipeline.stream', 0))`;

const COLUMNS = sql`id, tenant_id as "tenantId", event_type as "type", data, created_at as "at"`;

const sequence = prepared(
  'sequence-stream',
  () => sql<StreamEvent>`
    ${fleetNote('one order of the events of all tenants')}
    with lead as materialized (select ${LOCK} as held),
    moved as (
      delete from stream_outbox
      where (tenant_id, id) in (
        select o.tenant_id, o.id from stream_outbox o where (select held from lead)
        order by o.id limit ${sql.lit(STREAM_BATCH)})
      returning tenant_id, id, event_type, data, created_at
    ), counter as (
      update stream_counter set last_id = last_id + batch.n
      from (select count(*) as n from moved) batch
      where tenant_id = ${FLEET} and id = 1 and batch.n > 0
      returning last_id
    ), numbered as (
      insert into stream_events (id, tenant_id, event_type, data, created_at)
      select c.last_id - count(*) over () + row_number() over (order by m.id), m.tenant_id, m.event_type, m.data,
        m.created_at
      from moved m cross join counter c
      returning id, tenant_id, event_type, data, created_at
    )
    select ${COLUMNS} from numbered order by id`,
);

/**
 * Assigns ids to the facts of the outbox: moves one batch into `stream_events`, numbered from the counter row without a
 * gap, and deletes all but about the newest 10,000. Ids strictly increase in the order in which they become visible.
 * One statement; a second one every 1,000 events.
 * @returns the moved events in id order; none also while another process numbers.
 */
export async function sequenceStream(fleet: Db): Promise<StreamEvent[]> {
  const events = await sequence.all(fleet, {});
  const lastId = events.at(-1)?.id ?? 0;
  if (Math.floor(lastId / SWEEP_EVERY) > Math.floor((lastId - events.length) / SWEEP_EVERY)) {
    await sql`
      ${fleetNote('retention')}
      delete from stream_events where id <= ${lastId - KEPT}`.execute(fleet);
  }
  return events;
}

const beat = prepared(
  'stream-heartbeat',
  (_db, p: Params<{ every: string }>) => sql<{ id: number }>`
    with lead as materialized (select ${LOCK} as held),
    counter as (
      update stream_counter set last_id = last_id + 1, heartbeat_at = clock.now
      from (select svc_now() as now, svc_now() - ${p('every')}::interval as due) clock
      where tenant_id = ${FLEET} and id = 1 and (select held from lead) and coalesce(heartbeat_at, '-infinity') <= clock.due
      returning last_id, heartbeat_at
    )
    insert into stream_events (id, tenant_id, event_type, data, created_at)
    select last_id, ${FLEET}, 'heartbeat', '{}', heartbeat_at from counter
    returning id`,
);

/**
 * Inserts a heartbeat into the stream when the last one of any replica is older than this.
 * @returns whether it did.
 */
export const sequenceHeartbeat = async (fleet: Db, everyMs: number): Promise<boolean> =>
  (await beat.first(fleet, { every: `${everyMs} ms` })) !== undefined;

const after = prepared(
  'stream-after',
  (_db, p: Params<{ id: number }>) => sql<StreamEvent>`
    ${fleetNote('operators see all tenants')}
    select ${COLUMNS} from stream_events where id > ${p('id')} order by id limit ${sql.lit(STREAM_BATCH)}`,
);

/**
 * The next events of the stream in id order, heartbeats included, at most a batch. Ids have no gap, so the events after
 * a missing id are returned only when it cannot become visible any more. One statement; two after a missing id.
 */
export async function streamAfter(fleet: Db, id: number): Promise<StreamEvent[]> {
  const events = await after.all(fleet, { id });
  const [first] = events;
  if (!first || (first.id > id + 1 && !(await isLost(fleet, first)))) return [];
  const end = events.findIndex((event, index) => event.id !== first.id + index);
  return end === -1 ? events : events.slice(0, end);
}

/**
 * Returns whether the events before this one are gone: deleted by age, or missing for so long that no commit is in
 * progress. The servers of a distributed store finish one commit within milliseconds of each other, not at once.
 */
async function isLost(fleet: Db, { id, at }: StreamEvent): Promise<boolean> {
  const { rows } = await sql<{ lost: boolean }>`
    select ${id - 1}::bigint <= last_id - ${sql.lit(KEPT)} or ${at}::timestamptz < svc_now() - interval '5 seconds' as lost
    from stream_counter where tenant_id = ${FLEET} and id = 1`.execute(fleet);
  return rows[0]?.lost ?? true;
}

/** The id of the newest event, 0 before the first. */
export async function streamHead(fleet: Db): Promise<number> {
  const { last_id } = await fleet
    .selectFrom('stream_counter')
    .select('last_id')
    .where('tenant_id', '=', FLEET)
    .executeTakeFirstOrThrow();
  return last_id;
}

/** The newest facts up to an id, oldest first, without heartbeats. */
export async function newestFacts(fleet: Db, upTo: number, count: number): Promise<StreamEvent[]> {
  const { rows } = await sql<StreamEvent>`
    ${fleetNote('operators see all tenants')}
    select ${COLUMNS} from stream_events where id <= ${upTo} and event_type <> 'heartbeat'
    order by id desc limit ${count}`.execute(fleet);
  return rows.reverse();
}
