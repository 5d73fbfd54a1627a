import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import { fleetNote } from '../json.ts';
import { inTransaction } from '../transaction.ts';
import { costsOfRows, eventsOfRows, movesOfCohort, movesOfRows, type Stretch } from './facts.ts';
import { factsOfDeltas, SUMS_LOCK } from './fold.ts';
import { ALL_SUMS, addTo, type Facts, type Sums } from './sums.ts';

const factsOfRows = (stretch: Stretch): Record<Facts, RawBuilder<unknown>> => ({
  moves: movesOfRows(stretch),
  cohort: movesOfCohort(stretch),
  costs: costsOfRows(stretch),
  events: eventsOfRows(stretch),
});

/**
 * What is missing in a table of sums, or too much: its rows made anew from the history, less what the table and the
 * deltas say, all of it in one statement and so at one moment. `differences` is the relation.
 */
function differences(sums: Sums, stretch: Stretch): RawBuilder<unknown> {
  const { table, keys, kinds, time } = sums;
  const names = sql.join([...keys, ...sums.sums].map((name) => sql.ref(name)));
  const negative = sql.join([
    ...keys.map((name) => sql.ref(name)),
    ...sums.sums.map((name) => sql`-${sql.ref(name)} as ${sql.ref(name)}`),
  ]);
  const facts = factsOfRows(stretch);
  const rows = sums.reads.map((name) => sql`${sql.ref(name)} as (${facts[name]})`);
  const within = sql`${sql.ref(time)} >= ${stretch.from}::timestamptz and ${sql.ref(time)} < ${stretch.to}::timestamptz`;
  return sql`
    expected as (with ${sql.join(rows)} ${sums.cells}),
    waiting as (
      with d as (select tenant_id, repo_id, at, body from rollup_deltas), ${factsOfDeltas} ${sums.cells}
    ),
    differences as (
      select ${sql.join(keys.map((name) => sql.ref(name)))}, ${sql.join(sums.sums.map((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`))}
      from (
        select ${names} from expected
        union all select ${negative} from waiting where ${within}
        union all select ${negative} from ${sql.table(table)} where ${within} and ${kinds?.finest ?? sql`true`}
      ) x
      group by ${sql.join(keys.map((name) => sql.ref(name)))}
      having ${sql.join(
        sums.sums.map((name) => sql`sum(${sql.ref(name)}) <> 0`),
        sql` or `,
      )}
    )`;
}

export interface SumsCheck {
  table: Sums['table'];
  /** Sums of the finest kind that were off. */
  wrong: number;
  /** The first of them, for the log. */
  examples: Record<string, unknown>[];
}

/**
 * Makes the sums of a stretch of whole UTC days anew from the rows of the history and
 * compares. Costs the history of the stretch, and holds no lock unless it mends.
 * @param mend adds what is missing and takes away what is too much, while nobody folds.
 */
export async function checkRollups(fleet: Db, stretch: Stretch, mend: boolean): Promise<SumsCheck[]> {
  const found: SumsCheck[] = [];
  const age = await ageInDays(fleet, stretch);
  for (const sums of ALL_SUMS) {
    if (age > (sums.keptDays ?? Number.POSITIVE_INFINITY)) continue;
    const check = await inTransaction(fleet, async (tx) => {
      if (mend) await sql`select pg_advisory_xact_lock(${SUMS_LOCK})`.execute(tx);
      const added = mend ? sql`, added as (${addTo(sums, sql`select * from differences`)})` : sql``;
      const { rows } = await sql<{ wrong: number; examples: Record<string, unknown>[] }>`
        ${fleetNote('sums of every tenant')}
        with ${differences(sums, stretch)}${added}
        select (select count(*)::int from differences) as wrong,
          coalesce((select json_agg(e) from (select * from differences limit 5) e), '[]') as examples`.execute(tx);
      return rows[0];
    });
    found.push({ table: sums.table, wrong: check?.wrong ?? 0, examples: check?.examples ?? [] });
  }
  return found;
}

/** Days since the end of a stretch. */
async function ageInDays(fleet: Db, { to }: Stretch): Promise<number> {
  const { age } = await fleet
    .selectNoFrom(sql<number>`(extract(epoch from svc_now() - ${to}::timestamptz) / 86400)::float8`.as('age'))
    .executeTakeFirstOrThrow();
  return age + 1;
}
