import { type Params, prepared } from '@pipeline/store';
import { sql } from 'kysely';
import type { World } from '../world/world.ts';
import { HISTORY_RULES, type Rule } from './history.ts';
import { QUEUE_RULES } from './queue.ts';

const RULES: Record<string, Rule> = { ...QUEUE_RULES, ...HISTORY_RULES };

/** Prepared, because it runs after every step and planning costs more than running. */
const checkAll = prepared(
  'check-all-rules',
  (_db, p: Params<{ now: string; reported: number }>) => sql<{ rule: string; what: string }>`
  with state_task as (
    select s.name as state, s."taskType" as task_type, s.kind
    from workflow_snapshots w, jsonb_to_recordset(w.body -> 'states') as s (name text, "taskType" text, kind text)
    where w.active
  ),
  edge as (
    select e."from" as from_state, e."to" as to_state, e.trigger
    from workflow_snapshots w, jsonb_to_recordset(w.body -> 'edges') as e ("from" text, "to" text, trigger text)
    where w.active
  ),
  work as (select id, issue_id, issue_number, task_type, status, held, run_id, claimed_at from tasks where task_type in ('analyze', 'plan', 'develop', 'review', 'merge')),
  clock as (select ${p('now')}::timestamptz as now)
  ${sql.join(
    Object.entries(RULES).map(([name, rule]) => sql`select ${sql.lit(name)} as rule, b.what::text from (${rule}) b`),
    sql` union all `,
  )}
  union all select 'reportedCostIsBooked', format('reported %s, booked %s', ${p('reported')}::numeric, c.booked)
  from (select coalesce(sum(amount_usd), 0) as booked from cost_events) c where c.booked <> ${p('reported')}::numeric`,
);

/** All invariants. @returns the violations; empty = none. */
export async function breaches({
  database,
  costs,
}: Pick<World, 'database' | 'costs'>): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const now = (database.clock.now ?? new Date()).toISOString();
  const reported = [...costs.values()].reduce((sum, usd) => sum + usd, 0);
  for (const { rule, what } of await checkAll.all(database.db, { now, reported }))
    found[rule] = [...(found[rule] ?? []), what];
  return found;
}
