import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../driver/database.ts';
import { prepared } from '../../driver/prepared.ts';
import { costsOfDeltas, eventsOfDeltas, movesOfDeltas } from './facts.ts';
import { ALL_SUMS, addTo, everyKind, type Sums } from './sums.ts';

/** One process at a time adds to the rollups; every other writer of them takes this lock too. */
export const SUMS_LOCK = sql`hashtextextended('pipeline.rollups', 0)`;

/** Maximum number of deltas per statement. */
const FOLD_BATCH = 5_000;

/** The facts of deltas under the names that the cells of rollups read. The relation `d` precedes them. */
export const factsOfDeltas = sql`
  moves as (${movesOfDeltas}), cohort as (select tenant_id, repo_id, at, from_state, to_state, cohort_at, is_first, stay_ms from moves), costs as (${costsOfDeltas}), events as (${eventsOfDeltas})`;

const written = (sums: Sums): RawBuilder<unknown> =>
  sql`${sql.ref(`to_${sums.table}`)} as (${addTo(sums, everyKind(sums, sums.cells))})`;

// The lock is taken inside the statement: deltas that another process has aggregated meanwhile are locked, found
// deleted and skipped, and every sum is read at its current value.
const fold = prepared(
  'fold-rollups',
  () => sql<{ folded: number }>`
    with lead as materialized (select pg_try_advisory_xact_lock(${SUMS_LOCK}) as held),
    d as (
      delete from rollup_deltas
      where id in (
        select r.id from rollup_deltas r where (select held from lead) order by r.id limit ${sql.lit(FOLD_BATCH)})
      returning tenant_id, repo_id, at, body
    ),
    ${factsOfDeltas},
    ${sql.join(ALL_SUMS.map(written))}
    select count(*)::int as folded from d`,
);

/**
 * Aggregates a batch of deltas into the rollups, in one statement. Any number of processes may call it: one of them
 * does the work. @returns how many deltas were aggregated, and whether there are more.
 */
export async function aggregateRollups(fleet: Db): Promise<{ folded: number; more: boolean }> {
  const row = await fold.first(fleet, {});
  const folded = row?.folded ?? 0;
  return { folded, more: folded === FOLD_BATCH };
}

/** Number of pending deltas. */
export async function unfoldedDeltas(fleet: Db): Promise<number> {
  const { n } = await fleet
    .selectFrom('rollup_deltas')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return n;
}
