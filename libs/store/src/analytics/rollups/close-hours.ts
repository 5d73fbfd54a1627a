import { MINUTE_MS } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { inTransaction } from '../../driver/transaction.ts';
import { CLOSED_UNTIL, costsOf, eventsOf, growthOf, movesOf, type Stretch } from './facts.ts';
import { withoutOld } from './old-rows.ts';
import { ALL_SUMS, addTo, bin, costSums, everyKind, type Facts, type Sums } from './sums.ts';

const NOTE = fleetNote('facts of every tenant');

/**
 * An hour is closed so long after its end. Facts have the time at which their transaction began; the time limits of
 * statements and of idle transactions end every transaction of the services long before.
 */
const CLOSED_AFTER_MS = 5 * MINUTE_MS;

/**
 * Adds the facts of the next hours that are over to the rollups, each hour once, and what the calls of closed hours have
 * grown by. Any number of processes may call it: one of them does the work.
 * @param most the number of hours of one call: its statements read the facts of these hours.
 * @returns whether there is more to do.
 */
export function closeHours(fleet: Db, most = 1): Promise<boolean> {
  return inTransaction(fleet, async (tx) => {
    const { rows } = await sql<{ held: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('pipeline.rollups', 0)) as held`.execute(tx);
    if (rows[0]?.held !== true) return false;
    const hours = await nextHours(tx, most);
    if (hours) await addHours(tx, hours);
    const late = await addGrowth(tx);
    return late || hours?.more === true;
  });
}

interface Hours {
  /** ISO 8601. */
  from: string;
  to: string;
  /** True = the hour after these is over too. */
  more: boolean;
}

/** The first hour of all is that of the first issue or event. Until it is closed, every call reads the events for it. */
async function nextHours(tx: Tx, most: number): Promise<Hours | undefined> {
  const { rows } = await sql<Hours>`
    ${NOTE}
    select h."from", least(h."from" + ${`${most} hours`}::interval, h.past) as "to",
      h."from" + ${`${most} hours`}::interval < h.past as more
    from (
      select coalesce((select c.closed_until from closed_hours c), ${bin('1 hour', FIRST)}) as "from",
        ${bin('1 hour', sql`svc_now() - ${`${CLOSED_AFTER_MS} ms`}::interval`)} as past
    ) h
    where h."from" < h.past`.execute(tx);
  return rows[0];
}

const FIRST = sql`least((select min(i.created_at) from issues i), (select min(e.created_at) from pipeline_events e))`;

async function addHours(tx: Tx, { from, to }: Hours): Promise<void> {
  const stretch: Stretch = { from: sql`${from}::timestamptz`, to: sql`${to}::timestamptz` };
  const facts: Record<Facts, RawBuilder<unknown>> = {
    moves: movesOf(stretch),
    events: eventsOf(stretch),
    costs: costsOf(stretch),
  };
  for (const sums of ALL_SUMS) await addFacts(tx, sums, facts[sums.reads]);
  await sql`
    insert into closed_hours (closed_until) values (${to})
    on conflict (id) do update set closed_until = excluded.closed_until`.execute(tx);
}

async function addFacts(tx: Tx, sums: Sums, facts: RawBuilder<unknown>): Promise<void> {
  await sql`
    ${NOTE}
    with ${sql.ref(sums.reads)} as (${facts})
    ${addTo(sums, withoutOld(sums, everyKind(sums, sums.cells)))}`.execute(tx);
}

/**
 * Adds the growth of the calls of one late hour. Calls and their mark are committed together, so the marks that this
 * deletes are those of the calls that it reads. @returns whether there was one.
 */
async function addGrowth(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ repos: number }>`
    ${NOTE}
    with gone as (
      delete from late_costs where hour = (select min(c.hour) from late_costs c where c.hour < ${CLOSED_UNTIL})
      returning tenant_id, repo_id, hour
    ),
    late as materialized (select distinct tenant_id, repo_id, hour from gone),
    costs as (${growthOf(sql`late`)}),
    added as (${addTo(costSums, everyKind(costSums, costSums.cells))})
    select count(*)::int as repos from late`.execute(tx);
  return (rows[0]?.repos ?? 0) > 0;
}
