import { STATES, type State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { movesOf } from './rollups/facts.ts';
import { cellsOf, middleOf } from './rollups/sums.ts';
import { type AnalyticsScope, atLevel, openFactsOf, within } from './scope.ts';

/** Number of issues that are in a state now (`bucket` null), or the change between two bucket ends. */
interface StateChange {
  /** Number of bucket ends that lie at or before the change. */
  bucket: number | null;
  state: State;
  n: number;
}

const ANY_STATE = sql.lit(`{${STATES.join(',')}}`);

/**
 * Issues by state now, and the changes since the first of these bucket ends, in one statement and so one snapshot.
 * Costs the minutes of the window and the open moves, whatever the history. Ends within a minute are read from the
 * transitions: their cost is the transitions of the window.
 */
export async function stateChanges(
  fleet: Db,
  scope: AnalyticsScope,
  { ends, exact }: { ends: readonly Date[]; exact: boolean },
): Promise<StateChange[]> {
  const times = ends.map((end) => end.toISOString());
  const from = times[0] ?? '';
  const changes = exact ? changesOfRows(scope, from) : changesOfSums(scope, from);
  const { rows } = await sql<StateChange>`
    ${fleetNote('operators see all tenants')}
    with ${openFactsOf(scope)}
    select null::int as bucket, state, sum(n)::int as n from (
      select c.state, c.n from issue_counts c where ${within('c', scope)}
      union all select c.state, c.n from issue_count_deltas c where ${within('c', scope)}
    ) now group by state
    union all
    select width_bucket(at, ${times}::timestamptz[]), state, sum(n)::int from (${changes}) c group by 1, 2`.execute(
    fleet,
  );
  return rows;
}

const changesOfSums = (scope: AnalyticsScope, from: string): RawBuilder<unknown> => sql`
  select s.state, s.minute as at, s.entered - s.departed as n from state_minutes s
  where ${atLevel('s', scope)} and s.state = any(${ANY_STATE}::text[]) and s.minute >= ${from}::timestamptz
  union all
  select c.state, c.minute, c.entered - c.departed from (${cellsOf('state_minutes')}) c where c.minute >= ${from}::timestamptz`;

const changesOfRows = (scope: AnalyticsScope, from: string): RawBuilder<unknown> => sql`
  select case part.n when 1 then m.to_state else m.from_state end as state, m.at, part.n
  from (${movesOf({ from: sql`${from}::timestamptz`, to: sql`'infinity'` })}) m
  cross join unnest(array[1, -1]) part (n)
  where (part.n = 1 or m.from_state is not null) and ${within('m', scope)}`;

/**
 * Issues that moved to done since then, each counted once: whole minutes from the rollups, the first partial minute
 * from the transitions, minus repeated ends of issues that were reopened meanwhile (index transitions_out_of_done).
 */
export async function countDone(fleet: Db, scope: AnalyticsScope, since: Date): Promise<number> {
  const { from, minute } = edgeOf(since);
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('operators see all tenants')}
    with ${openFactsOf(scope)}
    select coalesce(sum(n), 0)::int as n from (
      select s.entered as n from state_minutes s
      where ${atLevel('s', scope)} and s.state = 'done' and s.minute >= ${minute}::timestamptz
      union all
      select c.entered from (${cellsOf('state_minutes')}) c where c.state = 'done' and c.minute >= ${minute}::timestamptz
      union all
      select 1 from transitions t
      where t.to_state = 'done' and t.at >= ${from}::timestamptz and t.at < ${minute}::timestamptz and ${within('t', scope)}
      union all
      select 1 - count(*) from (
        select distinct t.tenant_id, t.issue_id from transitions t
        where t.from_state = 'done' and t.at >= ${from}::timestamptz and ${within('t', scope)}
      ) back
      join transitions t on t.tenant_id = back.tenant_id and t.issue_id = back.issue_id and t.to_state = 'done'
        and t.at >= ${from}::timestamptz
      group by back.tenant_id, back.issue_id
    ) parts`.execute(fleet);
  return rows[0]?.n ?? 0;
}

/** A time, and the first whole minute at or after it; ISO 8601. */
function edgeOf(time: Date): { from: string; minute: string } {
  const minute = new Date(Math.ceil(time.getTime() / 60_000) * 60_000);
  return { from: time.toISOString(), minute: minute.toISOString() };
}

const ALL_STATES = sql.lit(`{${STATES.join(',')}}`);

/** An issue that has been in a state other than `new` has left another state before. */
export const shortestDwellTimes = (reached: ReadonlyMap<State, number>): number =>
  [...reached].reduce((sum, [state, n]) => sum + (state === 'new' ? 0 : n), 0);

/** Counts the issues admitted since then that have been in each state; states without issues are omitted. */
export async function reachedStates(fleet: Db, scope: AnalyticsScope, since: Date): Promise<Map<State, number>> {
  const { from, minute } = edgeOf(since);
  const { rows } = await sql<{ state: State; n: number }>`
    ${fleetNote('operators see all tenants')}
    with ${openFactsOf(scope)}
    select state, sum(n)::int as n from (
      select s.state, s.reached as n from state_minutes s
      where ${atLevel('s', scope)} and s.state = any(${ALL_STATES}::text[]) and s.minute >= ${minute}::timestamptz
      union all
      select c.state, c.reached from (${cellsOf('state_minutes')}) c where c.minute >= ${minute}::timestamptz
      union all
      select b.state, 1 from issues i
      cross join unnest(${ALL_STATES}::text[]) with ordinality as b (state, place)
      where i.created_at >= ${from}::timestamptz and i.created_at < ${minute}::timestamptz and ${within('i', scope)}
        and i.reached_states & (1 << (b.place::int - 1)) <> 0
    ) parts group by state having sum(n) <> 0`.execute(fleet);
  return new Map(rows.map(({ state, n }) => [state, n]));
}

/** Every issue begins in `new`, the first of the states. */
const ONLY_NEW = sql.lit(1 << STATES.indexOf('new'));

/** Medians are exact up to this number of dwell times; beyond, they are read from histograms. */
export const EXACT_DWELL_TIMES = 10_000;

/**
 * Median minutes that issues admitted since then stayed in each state, over all dwell times that have ended. Exact up
 * to EXACT_DWELL_TIMES; beyond, within one percent, of the issues admitted since the beginning of that hour.
 * @param atLeast a lower bound of the number of dwell times: above the limit they are not read one by one.
 */
export async function medianDwellTimes(
  fleet: Db,
  scope: AnalyticsScope,
  { since, atLeast = 0, exactUpTo = EXACT_DWELL_TIMES }: { since: Date; atLeast?: number; exactUpTo?: number },
): Promise<Map<State, number>> {
  if (atLeast > exactUpTo) return mediansOfHistograms(fleet, scope, since);
  // Only issues that have left `new`, and their transitions by the index of the issue: a plain join is planned as a
  // hash of all transitions of all time, or of those that the whole fleet made in the window. The group keeps the
  // subquery apart; its key makes it a group of one row each.
  const { rows } = await sql<{ state: State; minutes: number; stays: number }>`
    ${fleetNote('operators see all tenants')}
    with entered as materialized (
      select i.tenant_id, i.id from issues i
      where i.created_at >= ${since.toISOString()}::timestamptz and i.reached_states <> ${ONLY_NEW} and ${within('i', scope)}
    ),
    stays as materialized (
      select ended.state, ended.ms
      from entered e
      cross join lateral (
        select t.from_state as state, t.duration_in_from_ms as ms from transitions t
        where t.tenant_id = e.tenant_id and t.issue_id = e.id and t.duration_in_from_ms is not null
        group by t.tenant_id, t.id
      ) ended
      limit ${exactUpTo + 1}
    )
    select state, percentile_cont(0.5) within group (order by ms) / 60000 as minutes, count(*)::int as stays
    from stays group by state`.execute(fleet);
  const known = rows.reduce((sum, { stays }) => sum + stays, 0);
  if (known > exactUpTo) return mediansOfHistograms(fleet, scope, since);
  return new Map(rows.map(({ state, minutes }) => [state, minutes]));
}

async function mediansOfHistograms(fleet: Db, scope: AnalyticsScope, since: Date): Promise<Map<State, number>> {
  const hour = new Date(Math.floor(since.getTime() / 3_600_000) * 3_600_000).toISOString();
  const { rows } = await sql<{ state: State; minutes: number }>`
    ${fleetNote('operators see all tenants')}
    with ${openFactsOf(scope)},
    buckets as (
      select state, bucket, sum(n) as n from (
        select s.state, s.bucket, s.n from stay_hours s
        where ${atLevel('s', scope)} and s.state = any(${ALL_STATES}::text[]) and s.hour >= ${hour}::timestamptz
        union all
        select c.state, c.bucket, c.n from (${cellsOf('stay_hours')}) c where c.hour >= ${hour}::timestamptz
      ) parts group by 1, 2
    ), ranked as (
      select state, bucket, sum(n) over (partition by state order by bucket) as upto,
        sum(n) over (partition by state order by bucket) - n as before, sum(n) over (partition by state) as whole
      from buckets where n > 0
    )
    select state, avg(${middleOf(sql`bucket`)}) / 60000 as minutes
    from ranked cross join lateral (values (floor((whole + 1) / 2.0)), (ceil((whole + 1) / 2.0))) middle (rank)
    where rank > before and rank <= upto
    group by state`.execute(fleet);
  return new Map(rows.map(({ state, minutes }) => [state, minutes]));
}
