import { DAY_MS } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../../driver/clock.ts';
import type { Db } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { ALL_SUMS, type Sums } from './sums.ts';

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
 * Deletes rollups by minute and hour that no window reads any more. @returns how many.
 */
export async function deleteOldRollups(fleet: Db): Promise<number> {
  let deleted = 0;
  for (const sums of ALL_SUMS) deleted += await deleteOldRows(fleet, sums);
  return deleted;
}

/**
 * Deletes the rows of one table a day at a time, oldest first: the first run over a long history has millions to delete, and
 * one statement for all might never end within its timeout. Cost: indexes by time; for each day all of the cost rollups,
 * whose days and months are kept.
 */
async function deleteOldRows(fleet: Db, { table, time, keptDays, hoursKeptDays }: Sums): Promise<number> {
  const days = keptDays ?? hoursKeptDays;
  if (days === undefined) return 0;
  const ofGrain = hoursKeptDays === undefined ? sql`true` : sql`grain = 'hour'`;
  const { rows } = await sql<{ oldest: string | null; before: string }>`
    ${fleetNote('sums of every tenant')}
    select min(${sql.ref(time)}) as oldest, svc_now() - ${`${days} days`}::interval as before
    from ${sql.table(table)} where ${ofGrain}`.execute(fleet);
  const [range] = rows;
  if (!range || range.oldest === null) return 0;
  const before = Date.parse(range.before);
  let deleted = 0;
  for (let until = Date.parse(range.oldest); until < before; ) {
    until = Math.min(until + DAY_MS, before);
    const { numAffectedRows } = await sql`
      ${fleetNote('sums of every tenant')}
      delete from ${sql.table(table)} where ${sql.ref(time)} < ${new Date(until).toISOString()} and ${ofGrain}`.execute(
      fleet,
    );
    deleted += Number(numAffectedRows ?? 0);
  }
  return deleted;
}
