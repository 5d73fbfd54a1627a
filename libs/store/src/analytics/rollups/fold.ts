import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../driver/database.ts';
import { prepared } from '../../driver/prepared.ts';
import { costsOfDeltas, eventsOfDeltas, movesOfDeltas } from './facts.ts';
import { ALL_SUMS, addTo, everyKind, type Sums } from './sums.ts';

/** One process at a time adds to the sums; what else writes them waits for this lock. */
export const SUMS_LOCK = sql`hashtextextended('pipeline.rollups', 0)`;

/** The most that one statement folds. */
const FOLD_BATCH = 5_000;

/** The facts of deltas under the names that the cells of sums read. `d` stands before them. */
export const factsOfDeltas = sql`
  moves as (${movesOfDeltas}), cohort as (select tenant_id, repo_id, at, from_state, to_state, cohort_at, is_first, stay_ms from moves), costs as (${costsOfDeltas}), events as (${eventsOfDeltas})`;

const written = (sums: Sums): RawBuilder<unknown> =>
  sql`${sql.ref(`to_${sums.table}`)} as (${addTo(sums, everyKind(sums, sums.cells))})`;

// The lock is taken inside the statement: what another process has folded meanwhile is locked, found deleted and left
// out, and every sum is read as it is now.
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
 * Adds a batch of what writers have appended to the sums, in one statement. Any number of processes may call it: one
 * of them does the work. @returns how many deltas were folded, and whether there are more.
 */
export async function foldRollups(fleet: Db): Promise<{ folded: number; more: boolean }> {
  const row = await fold.first(fleet, {});
  const folded = row?.folded ?? 0;
  return { folded, more: folded === FOLD_BATCH };
}

/** How many deltas wait. */
export async function unfoldedDeltas(fleet: Db): Promise<number> {
  const { n } = await fleet
    .selectFrom('rollup_deltas')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return n;
}
