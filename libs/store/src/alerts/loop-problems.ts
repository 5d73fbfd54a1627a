import { sql } from 'kysely';
import { msInterval } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

interface LoopProblem {
  loop: string;
  problem: 'failing' | 'late';
  /** Failed runs in a row. */
  failures: number;
  since: Date;
  error: string | null;
}

const ERROR_LENGTH = 500;

const put = prepared(
  'put-loop-problems',
  (_db, p: Params<{ process: string; items: string }>) => sql`
    with items as (
      select loop, problem, failures, since, error
      from jsonb_to_recordset(${p('items')}::jsonb)
        as i (loop text, problem text, failures integer, since timestamptz, error text)
    ), gone as (
      delete from loop_problems where process = ${p('process')} and loop not in (select loop from items)
    )
    insert into loop_problems (process, loop, problem, failures, since, error, seen_at)
    select ${p('process')}, loop, problem, failures, since, error, svc_now() from items
    on conflict (process, loop) do update
    set problem = excluded.problem, failures = excluded.failures, since = excluded.since, error = excluded.error,
      seen_at = excluded.seen_at`,
);

/** Replaces what is stored of one process. A row counts as long as it is refreshed (see `brokenLoops`). */
export async function putLoopProblems(fleet: Db, process: string, problems: readonly LoopProblem[]): Promise<void> {
  const items = problems.map(({ error, ...rest }) => ({
    ...rest,
    error: error?.replaceAll('\u0000', '').slice(0, ERROR_LENGTH) ?? null,
  }));
  await put.run(fleet, { process, items: JSON.stringify(items) });
}

/** Deletes what ended processes left: a row of each of their loops that had a problem. Reads the whole table, which is small. */
export async function deleteOldLoopProblems(fleet: Db, keptMs: number): Promise<void> {
  await sql`delete from loop_problems where seen_at < svc_now() - ${msInterval(keptMs)}`.execute(fleet);
}
