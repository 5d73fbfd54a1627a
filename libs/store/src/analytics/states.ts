import { STATES, type State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { movesOfRows } from './rollups/facts.ts';
import { cellsOf } from './rollups/sums.ts';
import { type AnalyticsScope, atLevel, waitingFacts, within } from './scope.ts';

/** How many issues are in a state now (`bucket` null), or the change between two bucket ends. */
interface StateChange {
  /** How many bucket ends lie at or before the change. */
  bucket: number | null;
  state: State;
  n: number;
}

const ANY_STATE = sql.lit(`{${STATES.join(',')}}`);

/**
 * Issues by state now, and the changes since the first of these bucket ends, in one statement and so one snapshot.
 * Costs the minutes of the window and pending deltas, whatever the history. Ends within a minute are read from the
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
    with ${waitingFacts(scope)}
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
  select part.state, m.at, part.n
  from (${movesOfRows({ from, to: 'infinity' })}) m
  cross join lateral (select m.to_state as state, 1 as n union all select m.from_state, -1 where m.from_state is not null) part
  where ${within('m', scope)}`;

/**
 * Issues that moved to done since then, each counted once: whole minutes from the rollups, the first partial minute
 * from the transitions, minus repeated ends of issues that were reopened meanwhile (index transitions_out_of_done).
 */
export async function countDone(fleet: Db, scope: AnalyticsScope, since: Date): Promise<number> {
  const { from, minute } = edgeOf(since);
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('operators see all tenants')}
    with ${waitingFacts(scope)}
    select coalesce(sum(n), 0)::int as n from (
      select s.entered as n from state_minutes s
      where ${atLevel('s', scope)} and s.state = 'done' and s.minute >= ${minute}::timestamptz
      union all
      select c.entered from (${cellsOf('state_minutes')}) c where c.state = 'done' and c.minute >= ${minute}::timestamptz
      union all
      select 1 from transitions t
      where t.to_state = 'done' and t.at >= ${from}::timestamptz and t.at < ${minute}::timestamptz and ${within('t', scope)}
      union all
      select -greatest(0, again.n - 1) from (
        select distinct t.tenant_id, t.issue_id from transitions t
        where t.from_state = 'done' and t.at >= ${from}::timestamptz and ${within('t', scope)}
      ) back
      cross join lateral (
        select count(*) as n from transitions t
        where t.tenant_id = back.tenant_id and t.issue_id = back.issue_id and t.to_state = 'done'
          and t.at >= ${from}::timestamptz
      ) again
    ) parts`.execute(fleet);
  return rows[0]?.n ?? 0;
}

/** A time, and the first whole minute at or after it; ISO 8601. */
export function edgeOf(time: Date): { from: string; minute: string } {
  const minute = new Date(Math.ceil(time.getTime() / 60_000) * 60_000);
  return { from: time.toISOString(), minute: minute.toISOString() };
}
