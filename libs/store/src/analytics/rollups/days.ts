import { sql } from 'kysely';
import { svcNow } from '../../driver/clock.ts';
import type { Db } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { ALL_SUMS } from './sums.ts';

/**
 * The newest UTC day whose rollups have to be compared with the history: one not compared since it ended, today
 * included if it never was, back to the day of the first admission.
 * @returns its date, YYYY-MM-DD, and whether it was compared before; undefined when there is nothing to do.
 */
export async function nextDayToCheck(fleet: Db): Promise<{ day: string; known: boolean } | undefined> {
  const { rows } = await sql<{ day: string; known: boolean }>`
    /* fleet: sums of every tenant */
    with today as (select (svc_now() at time zone 'UTC')::date as day)
    select d::date as day, c.day is not null as known
    from today cross join lateral generate_series(
      (select (min(i.created_at) at time zone 'UTC')::date from issues i)::timestamp, today.day::timestamp, interval '1 day') d
    left join rollup_checks c on c.day = d::date
    where c.day is null or (d::date < today.day and c.checked_at at time zone 'UTC' < d + interval '1 day')
    order by d desc limit 1`.execute(fleet);
  return rows[0];
}

/** Records that the rollups of a day were compared, and how many differences there were. */
export async function noteCheckedDay(fleet: Db, day: string, wrong: number): Promise<void> {
  await fleet
    .insertInto('rollup_checks')
    .values({ day, wrong, checked_at: svcNow })
    .onConflict((c) => c.column('day').doUpdateSet((eb) => ({ wrong, checked_at: eb.ref('excluded.checked_at') })))
    .execute();
}

/**
 * Deletes rollups by minute and hour that no window reads any more. Cost: indexes by time; all of the cost rollups,
 * whose days and months are kept. @returns how many.
 */
export async function deleteOldRollups(fleet: Db): Promise<number> {
  let forgotten = 0;
  for (const { table, time, keptDays, hoursKeptDays } of ALL_SUMS) {
    const days = keptDays ?? hoursKeptDays;
    if (days === undefined) continue;
    const { numAffectedRows } = await sql`
      ${fleetNote('sums of every tenant')}
      delete from ${sql.table(table)} where ${sql.ref(time)} < svc_now() - ${`${days} days`}::interval
        ${hoursKeptDays === undefined ? sql`` : sql`and grain = 'hour'`}`.execute(fleet);
    forgotten += Number(numAffectedRows ?? 0);
  }
  return forgotten;
}
