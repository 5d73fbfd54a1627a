import { DAY_MS } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { ALL_SUMS, type Sums } from './sums.ts';

/**
 * Deletes rollups by minute and hour that no window reads any more. @returns how many.
 */
export async function deleteOldRollups(fleet: Db): Promise<number> {
  let deleted = 0;
  for (const sums of ALL_SUMS) deleted += await deleteOldRows(fleet, sums);
  return deleted;
}

/** A condition on rows that are kept for a limited time. */
const hasLimit = ({ keys }: Sums): RawBuilder<unknown> => (keys.includes('grain') ? sql`grain = 'hour'` : sql`true`);

/** Leaves out rows that retention would delete: most hours of a long history are old when they are closed. */
export function withoutOld(sums: Sums, rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const { time, keptDays } = sums;
  if (keptDays === undefined) return rows;
  const isNew = sql`${sql.ref(time)} >= svc_now() - ${sql.lit(`${keptDays} days`)}::interval`;
  return sql`select k.* from (${rows}) k where ${isNew} or not (${hasLimit(sums)})`;
}

/**
 * Deletes the rows of one table a day at a time, oldest first: after a long pause of the monitor there may be millions. Cost: indexes by time; for each day all of the cost rollups,
 * whose days and months are kept.
 */
async function deleteOldRows(fleet: Db, sums: Sums): Promise<number> {
  const { table, time, keptDays } = sums;
  if (keptDays === undefined) return 0;
  const { rows } = await sql<{ oldest: string | null; before: string }>`
    ${fleetNote('sums of every tenant')}
    select min(${sql.ref(time)}) as oldest, svc_now() - ${`${keptDays} days`}::interval as before
    from ${sql.table(table)} where ${hasLimit(sums)}`.execute(fleet);
  const [range] = rows;
  if (!range || range.oldest === null) return 0;
  const before = Date.parse(range.before);
  let deleted = 0;
  for (let until = Date.parse(range.oldest); until < before; ) {
    until = Math.min(until + DAY_MS, before);
    const { numAffectedRows } = await sql`
      ${fleetNote('sums of every tenant')}
      delete from ${sql.table(table)} where ${sql.ref(time)} < ${new Date(until).toISOString()} and ${hasLimit(sums)}`.execute(
      fleet,
    );
    deleted += Number(numAffectedRows ?? 0);
  }
  return deleted;
}
