import { DAY_MS, HOUR_MS } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { inTransaction } from '../../driver/transaction.ts';
import {
  costsOfRows,
  eventsOfRows,
  factsOfDeltas,
  movesOfCohort,
  movesOfRows,
  type Stretch,
  SUMS_LOCK,
} from './aggregate.ts';
import { ALL_SUMS, addTo, everyKind, type Facts, monthOf, type Sums } from './sums.ts';

const factsOfRows = (stretch: Stretch): Record<Facts, RawBuilder<unknown>> => ({
  moves: movesOfRows(stretch),
  cohort: movesOfCohort(stretch),
  costs: costsOfRows(stretch),
  events: eventsOfRows(stretch),
});

const names = (columns: readonly string[]) => sql.join(columns.map((name) => sql.ref(name)));
const negative = (columns: readonly string[]) =>
  sql.join(columns.map((name) => sql`-${sql.ref(name)} as ${sql.ref(name)}`));
const added = (columns: readonly string[]) =>
  sql.join(columns.map((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`));
const notZero = (columns: readonly string[]) =>
  sql.join(
    columns.map((name) => sql`sum(${sql.ref(name)}) <> 0`),
    sql` or `,
  );

/** Returns whether the table has rows of days and months; the others have minutes or hours alone. */
const hasGrains = ({ keys }: Sums): boolean => keys.includes('grain');

/** Maximum number of examples of wrong rollups in the log. */
const MOST_EXAMPLES = 5;

/**
 * Differences of a rollup table, separately at every level: its rows recomputed from the history, minus those of the
 * table and the pending deltas, in one statement and so one snapshot. `differences` is the relation.
 */
function differences(sums: Sums, stretch: Stretch): RawBuilder<unknown> {
  const { table, keys, time } = sums;
  const facts = factsOfRows(stretch);
  const rows = sums.reads.map((name) => sql`${sql.ref(name)} as (${facts[name]})`);
  const within = sql`${sql.ref(time)} >= ${stretch.from}::timestamptz and ${sql.ref(time)} < ${stretch.to}::timestamptz`;
  const byMonth = hasGrains(sums);
  return sql`
    expected as (with ${sql.join(rows)} ${everyKind(sums, sums.cells)}),
    waiting as (
      with d as materialized (select tenant_id, repo_id, at, body from rollup_deltas), ${factsOfDeltas} ${everyKind(sums, sums.cells)}
    ),
    of_stretch as (
      select ${names(keys)}, ${added(sums.sums)}
      from (
        select ${names(keys)}, ${names(sums.sums)} from expected
        union all select ${names(keys)}, ${negative(sums.sums)} from waiting where ${within}
        union all select ${names(keys)}, ${negative(sums.sums)} from ${sql.table(table)} where ${within}
      ) x
      ${byMonth ? sql`where grain <> 'month'` : sql``}
      group by ${names(keys)} having ${notZero(sums.sums)}
    )${byMonth ? sql`, of_months as (${differencesOfMonths(sums, stretch)})` : sql``},
    differences as (
      select ${names(keys)}, ${names(sums.sums)} from of_stretch
      ${byMonth ? sql`union all select ${names(keys)}, ${names(sums.sums)} from of_months` : sql``}
    )`;
}

/**
 * A stretch does not hold a whole month, so a month is compared with its days as repaired. Neither includes pending
 * deltas.
 */
function differencesOfMonths({ table, keys, sums }: Sums, { from, to }: Stretch): RawBuilder<unknown> {
  const others = names(keys.filter((name) => name !== 'grain' && name !== 'at'));
  const days = (relation: RawBuilder<unknown>) => sql`
    select ${others}, ${monthOf(sql`at`)} as at, ${names(sums)} from ${relation} where grain = 'day'`;
  return sql`
    select ${others}, 'month' as grain, at, ${added(sums)}
    from (
      ${days(sql.table(table))}
      union all ${days(sql`of_stretch`)}
      union all select ${others}, at, ${negative(sums)} from ${sql.table(table)} where grain = 'month'
    ) x
    where at >= ${monthOf(sql`${from}::timestamptz`)} and at < ${to}::timestamptz
    group by ${others}, at having ${notZero(sums)}`;
}

export interface SumsCheck {
  table: Sums['table'];
  /** Wrong sums, of all kinds and levels. */
  wrong: number;
  /** The first of them, for the log. */
  examples: Record<string, unknown>[];
}

/**
 * Recomputes the rollups of a stretch of whole UTC days from the history and compares each level separately: an error
 * in one changes no other. Costs the history of the stretch, and takes no lock unless it repairs.
 * @param repair adds the differences, while no aggregation runs.
 */
export async function checkRollups(fleet: Db, stretch: Stretch, repair: boolean): Promise<SumsCheck[]> {
  return await checkParts(fleet, stretch, { repair, partsOf: () => [stretch] });
}

/**
 * The same for one day. Rollups of minutes and hours are compared hour by hour: with a million moves a day, the day as a
 * whole would exceed the time of a statement. @param day YYYY-MM-DD, UTC.
 */
export async function checkDay(fleet: Db, day: string, repair: boolean): Promise<SumsCheck[]> {
  const whole = stretchOf(`${day}T00:00:00.000Z`, DAY_MS);
  const hours = Array.from({ length: 24 }, (_, hour) =>
    stretchOf(`${day}T${String(hour).padStart(2, '0')}:00:00.000Z`, HOUR_MS),
  );
  return await checkParts(fleet, whole, { repair, partsOf: (sums) => (hasGrains(sums) ? [whole] : hours) });
}

const stretchOf = (from: string, ms: number): Stretch => ({ from, to: new Date(Date.parse(from) + ms).toISOString() });

interface Parts {
  repair: boolean;
  /** Stretches in which the rows of a table can be compared for themselves, in order. */
  partsOf: (sums: Sums) => readonly Stretch[];
}

async function checkParts(fleet: Db, stretch: Stretch, { repair, partsOf }: Parts): Promise<SumsCheck[]> {
  const found: SumsCheck[] = [];
  const age = await ageInDays(fleet, stretch);
  for (const sums of ALL_SUMS) {
    if (age > (sums.keptDays ?? Number.POSITIVE_INFINITY)) continue;
    const check: SumsCheck = { table: sums.table, wrong: 0, examples: [] };
    for (const part of partsOf(sums)) {
      const { wrong, examples } = await checkSums(fleet, { sums, stretch: part, repair });
      check.wrong += wrong;
      check.examples = [...check.examples, ...examples].slice(0, MOST_EXAMPLES);
    }
    found.push(check);
  }
  return found;
}

interface Checked {
  sums: Sums;
  stretch: Stretch;
  repair: boolean;
}

function checkSums(fleet: Db, { sums, stretch, repair }: Checked): Promise<Omit<SumsCheck, 'table'>> {
  return inTransaction(fleet, async (tx) => {
    if (repair) await sql`select pg_advisory_xact_lock(${SUMS_LOCK})`.execute(tx);
    const repaired = repair ? sql`, repaired as (${addTo(sums, sql`select * from differences`)})` : sql``;
    const { rows } = await sql<Omit<SumsCheck, 'table'>>`
      ${fleetNote('sums of every tenant')}
      with ${differences(sums, stretch)}${repaired}
      select (select count(*)::int from differences) as wrong,
        coalesce((select json_agg(e) from (select * from differences limit ${sql.lit(MOST_EXAMPLES)}) e), '[]') as examples`.execute(
      tx,
    );
    return rows[0] ?? { wrong: 0, examples: [] };
  });
}

/** Days since the end of a stretch. */
async function ageInDays(fleet: Db, { to }: Stretch): Promise<number> {
  const { age } = await fleet
    .selectNoFrom(sql<number>`(extract(epoch from svc_now() - ${to}::timestamptz) / 86400)::float8`.as('age'))
    .executeTakeFirstOrThrow();
  return age + 1;
}
