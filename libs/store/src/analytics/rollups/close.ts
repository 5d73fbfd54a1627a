import { MINUTE_MS } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { inTransaction } from '../../driver/transaction.ts';
import { closedUntil, costsOf, eventsOf, type Facts, growthOf, movesOf, type Stretch } from './facts.ts';
import { withoutOld } from './old-rows.ts';
import { ALL_SUMS, addTo, bin, costSums, everyKind, type Sums } from './sums.ts';

const NOTE = fleetNote('facts of every tenant');

/**
 * Facts are closed at this age. They have the time at which their transaction began; the time limits of statements and of
 * idle transactions end every transaction of the services long before.
 */
const CLOSED_AFTER_MS = 5 * MINUTE_MS;

const FACTS: Readonly<Record<Facts, (stretch: Stretch) => RawBuilder<unknown>>> = {
  moves: movesOf,
  events: eventsOf,
  costs: costsOf,
};

/**
 * Adds the facts since the last call to the rollups, each once, and what the calls of closed hours have grown by. Any
 * number of processes may call it: one of them does the work.
 * @param hours the longest time of one call: its statements read the facts of that time.
 * @returns whether there is more to do.
 */
export function closeFacts(fleet: Db, hours = 1): Promise<boolean> {
  return inTransaction(fleet, async (tx) => {
    const { rows } = await sql<{ held: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('pipeline.rollups', 0)) as held`.execute(tx);
    if (rows[0]?.held !== true) return false;
    let more = await addGrowth(tx);
    for (const facts of Object.keys(FACTS) as Facts[]) more = (await closeNext(tx, facts, hours)) || more;
    return more;
  });
}

/** @returns whether there is more. */
async function closeNext(tx: Tx, facts: Facts, hours: number): Promise<boolean> {
  const next = await nextStretch(tx, facts, hours);
  if (!next) return false;
  const { from, to, more } = next;
  const rows = FACTS[facts]({ from: sql`${from}::timestamptz`, to: sql`${to}::timestamptz` });
  for (const sums of ALL_SUMS) if (sums.reads === facts) await addFacts(tx, sums, rows);
  await sql`
    insert into closed_facts (facts, until) values (${facts}, ${to})
    on conflict (facts) do update set until = excluded.until`.execute(tx);
  return more;
}

interface Next {
  /** Start, with microseconds. */
  from: string;
  to: string;
  more: boolean;
}

/**
 * Costs are closed by whole hours, because calls grow for a while; other facts never change. The first call begins with
 * the hour of the first issue or event, and reads all events for it.
 */
async function nextStretch(tx: Tx, facts: Facts, hours: number): Promise<Next | undefined> {
  const past = sql`svc_now() - ${`${CLOSED_AFTER_MS} ms`}::interval`;
  const { rows } = await sql<Next>`
    ${NOTE}
    select n."from"::text as "from", least(n."from" + ${`${hours} hours`}::interval, n.past)::text as "to",
      n."from" + ${`${hours} hours`}::interval < n.past as more
    from (
      select coalesce((select f.until from closed_facts f where f.facts = ${facts}), ${bin('1 hour', FIRST)}) as "from",
        ${facts === 'costs' ? bin('1 hour', past) : past} as past
    ) n
    where n."from" < n.past`.execute(tx);
  return rows[0];
}

const FIRST = sql`least((select min(i.created_at) from issues i), (select min(e.created_at) from pipeline_events e))`;

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
      delete from late_costs where hour = (select min(c.hour) from late_costs c where c.hour < ${closedUntil('costs')})
      returning tenant_id, repo_id, hour
    ),
    late as materialized (select distinct tenant_id, repo_id, hour from gone),
    costs as (${growthOf(sql`late`)}),
    added as (${addTo(costSums, everyKind(costSums, costSums.cells))})
    select count(*)::int as repos from late`.execute(tx);
  return (rows[0]?.repos ?? 0) > 0;
}
