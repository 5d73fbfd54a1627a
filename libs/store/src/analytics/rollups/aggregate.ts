import { STATES } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../driver/database.ts';
import { fleetNote } from '../../driver/fragments.ts';
import { prepared } from '../../driver/prepared.ts';
import { ALL_SUMS, addTo, everyKind, type Sums } from './sums.ts';

/** All states, for the index that begins with the state. */
const ANY_STATE = sql.lit(`{${STATES.join(',')}}`);

/**
 * The content of deltas as rows: each reads the relation `d` (tenant_id, repo_id, at, body), either deltas just deleted
 * by the aggregation or pending ones.
 */
const movesOfDeltas = sql`
  select d.tenant_id, d.repo_id, d.at, m."from" as from_state, m."to" as to_state, coalesce(m.cohort, d.at) as cohort_at,
    m.first as is_first, m.stay as stay_ms
  from d cross join lateral jsonb_to_recordset(d.body -> 'moves')
    as m ("from" text, "to" text, cohort timestamptz, first boolean, stay bigint)`;

/** Costs belong to the time of their recording, the call to the time of its first recording. */
const costsOfDeltas = sql`
  select d.tenant_id, d.repo_id, c.agent, c.model, c.provider, part.at, part.usd, part.invocations, part.input_tokens,
    part.output_tokens, part.cache_read_tokens, part.cache_write_tokens, part.max_turns, part.no_progress,
    part.unreported_costs
  from d cross join lateral jsonb_to_recordset(d.body -> 'costs')
    as c (agent text, model text, provider text, usd numeric, call jsonb)
  cross join lateral (
    select d.at, c.usd, 0::bigint as invocations, 0::bigint as input_tokens, 0::bigint as output_tokens,
      0::bigint as cache_read_tokens, 0::bigint as cache_write_tokens, 0::bigint as max_turns, 0::bigint as no_progress,
      0::bigint as unreported_costs
    union all
    select coalesce((c.call ->> 'at')::timestamptz, d.at), 0, (c.call ->> 'invocations')::bigint,
      (c.call ->> 'inputTokens')::bigint, (c.call ->> 'outputTokens')::bigint, (c.call ->> 'cacheReadTokens')::bigint,
      (c.call ->> 'cacheWriteTokens')::bigint, (c.call ->> 'maxTurns')::bigint, (c.call ->> 'noProgress')::bigint,
      coalesce((c.call ->> 'unreportedCosts')::bigint, 0)
  ) part`;

const eventsOfDeltas = sql`
  select d.tenant_id, d.repo_id, d.at, e.type as event_type, e.task as task_type, e.n
  from d cross join lateral jsonb_to_recordset(d.body -> 'events') as e (type text, task text, n bigint)`;

/** A stretch of time: from included, to excluded; ISO 8601. */
export interface Stretch {
  from: string;
  to: string;
}

const during = (column: RawBuilder<unknown>, { from, to }: Stretch | Between) =>
  sql`${column} >= (${from})::timestamptz and ${column} < (${to})::timestamptz`;

/** The same facts from the history: transitions of a stretch. Costs its transitions (transitions_by_state). */
export const movesOfRows = (stretch: Stretch) => sql`
  select t.tenant_id, t.repo_id, t.at, t.from_state, t.to_state, i.created_at as cohort_at, false as is_first,
    t.duration_in_from_ms as stay_ms
  from transitions t join issues i on i.tenant_id = t.tenant_id and i.id = t.issue_id
  where t.to_state = any(${ANY_STATE}::text[]) and ${during(sql`t.at`, stretch)}
  union all
  select i.tenant_id, i.repo_id, i.created_at, null, 'new', i.created_at, true, null
  from issues i where ${during(sql`i.created_at`, stretch)}`;

/** All transitions, of any time, of the issues admitted in a stretch. Costs all of their transitions. */
export const movesOfCohort = (stretch: Stretch) => sql`
  select t.tenant_id, t.repo_id, t.at, t.from_state, t.to_state, i.created_at as cohort_at,
    t.to_state <> 'new' and row_number() over (partition by t.tenant_id, t.issue_id, t.to_state order by t.id) = 1 as is_first,
    t.duration_in_from_ms as stay_ms
  from issues i join transitions t on t.tenant_id = i.tenant_id and t.issue_id = i.id
  where ${during(sql`i.created_at`, stretch)}
  union all
  select i.tenant_id, i.repo_id, i.created_at, null, 'new', i.created_at, true, null
  from issues i where ${during(sql`i.created_at`, stretch)}`;

/** A stretch of time whose ends are expressions. */
interface Between {
  from: RawBuilder<unknown>;
  to: RawBuilder<unknown>;
}

/** A condition on the tenant_id and repo_id of the relation with this name. */
export type Of = (alias: string) => RawBuilder<unknown>;

const OF_ALL: Of = () => sql`true`;

/** Costs recorded in a stretch, without the calls. */
const moneyOfRows = (stretch: Stretch | Between, of = OF_ALL) => sql`
  select c.tenant_id, c.repo_id, c.agent, c.model, a.provider, c.created_at as at, c.amount_usd as usd,
    0::bigint as invocations, 0::bigint as input_tokens, 0::bigint as output_tokens, 0::bigint as cache_read_tokens,
    0::bigint as cache_write_tokens, 0::bigint as max_turns, 0::bigint as no_progress, 0::bigint as unreported_costs
  from tenants x
  join cost_events c on c.tenant_id = x.id
  join agent_invocations a on a.tenant_id = c.tenant_id and a.run_id = c.run_id and a.invocation_index = c.invocation_index
  where ${during(sql`c.created_at`, stretch)} and ${of('c')}`;

/** Costs recorded in a stretch, and the calls whose cost is unreported (agent_invocations_unreported). */
export const costsOfRowsWithoutCalls = (stretch: Stretch | Between, of = OF_ALL) => sql`
  ${moneyOfRows(stretch, of)}
  union all
  select a.tenant_id, r.repo_id, r.agent, a.model, a.provider, a.created_at, 0, 0, 0, 0, 0, 0, 0, 0, 1
  from tenants x
  join agent_invocations a on a.tenant_id = x.id
  join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
  where a.cost_usd is null and ${during(sql`a.created_at`, stretch)} and ${of('r')}`;

/** Costs recorded in a stretch, and the calls. */
export const costsOfRows = (stretch: Stretch | Between, of = OF_ALL) => sql`
  ${moneyOfRows(stretch, of)}
  union all
  select a.tenant_id, r.repo_id, r.agent, a.model, a.provider, a.created_at, 0, 1, a.input_tokens, a.output_tokens,
    a.cache_read_tokens, a.cache_write_tokens, (a.stop_reason = 'max_turns')::int, (a.stop_reason = 'no_progress')::int,
    (a.cost_usd is null)::int
  from tenants x
  join agent_invocations a on a.tenant_id = x.id
  join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
  where ${during(sql`a.created_at`, stretch)} and ${of('r')}`;

export const eventsOfRows = (stretch: Stretch) => sql`
  select e.tenant_id, e.repo_id, e.created_at as at, e.event_type, e.payload ->> 'taskType' as task_type, 1::bigint as n
  from tenants x join pipeline_events e on e.tenant_id = x.id
  where ${during(sql`e.created_at`, stretch)}`;

/** One process at a time adds to the rollups; every other writer of them takes this lock too. */
export const SUMS_LOCK = sql`hashtextextended('pipeline.rollups', 0)`;

/** Maximum number of deltas per statement. */
const AGGREGATE_BATCH = 5_000;

/** The facts of deltas under the names that the cells of rollups read. The relation `d` precedes them. */
export const factsOfDeltas = sql`
  moves as (${movesOfDeltas}), cohort as (select tenant_id, repo_id, at, from_state, to_state, cohort_at, is_first, stay_ms from moves), costs as (${costsOfDeltas}), events as (${eventsOfDeltas})`;

const written = (sums: Sums): RawBuilder<unknown> =>
  sql`${sql.ref(`to_${sums.table}`)} as (${addTo(sums, everyKind(sums, sums.cells))})`;

// The lock is taken inside the statement: deltas that another process has aggregated meanwhile are locked, found
// deleted and skipped, and every sum is read at its current value.
const aggregate = prepared(
  'aggregate-rollups',
  () => sql<{ aggregated: number }>`
    ${fleetNote('deltas of every tenant')}
    with lead as materialized (select pg_try_advisory_xact_lock(${SUMS_LOCK}) as held),
    d as (
      delete from rollup_deltas
      where (tenant_id, id) in (
        select r.tenant_id, r.id from rollup_deltas r where (select held from lead)
        order by r.tenant_id, r.id limit ${sql.lit(AGGREGATE_BATCH)})
      returning tenant_id, repo_id, at, body
    ),
    ${factsOfDeltas},
    ${sql.join(ALL_SUMS.map(written))}
    select count(*)::int as aggregated from d`,
);

/**
 * Aggregates a batch of deltas into the rollups, in one statement, in order of the primary key. Any number of processes
 * may call it: one of them does the work. @returns how many deltas were aggregated, and whether there are more.
 */
export async function aggregateRollups(fleet: Db): Promise<{ aggregated: number; more: boolean }> {
  const row = await aggregate.first(fleet, {});
  const aggregated = row?.aggregated ?? 0;
  return { aggregated, more: aggregated === AGGREGATE_BATCH };
}

/** Number of pending deltas. */
export async function unfoldedDeltas(fleet: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('deltas of every tenant')}
    select count(*) as n from rollup_deltas`.execute(fleet);
  return rows[0]?.n ?? 0;
}
