import { STATES } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';

/** A stretch of time: from included, to excluded. */
export interface Stretch {
  from: RawBuilder<unknown>;
  to: RawBuilder<unknown>;
}

/** A condition on the tenant_id and repo_id of the relation with this name. */
export type Of = (alias: string) => RawBuilder<unknown>;

export const OF_ALL: Of = () => sql`true`;

/** The kinds of facts that rollups are made of; each is closed for itself. */
export type Facts = 'moves' | 'events' | 'costs';

/** The end of the time whose facts are in the rollups. Without a row none is closed. */
export const closedUntil = (facts: Facts): RawBuilder<unknown> =>
  sql`coalesce((select f.until from closed_facts f where f.facts = ${sql.lit(facts)}), '-infinity')`;

/**
 * The time whose facts are not in the rollups. Its end is always later than now: with it the planner takes a small part of
 * a table for it, without it a third.
 */
const open = (facts: Facts): Stretch => ({ from: closedUntil(facts), to: sql`timestamptz 'infinity'` });

/** All states, for the index that begins with the state. */
const ANY_STATE = sql.lit(`{${STATES.join(',')}}`);

const during = (column: RawBuilder<unknown>, { from, to }: Stretch) => sql`${column} >= ${from} and ${column} < ${to}`;

/** Moves and admissions of a stretch (transitions_by_state, issues_by_entry). */
export const movesOf = (stretch: Stretch, of = OF_ALL): RawBuilder<unknown> => sql`
  select t.tenant_id, t.repo_id, t.at, t.from_state, t.to_state, t.admitted_at, t.is_first,
    t.duration_in_from_ms as stay_ms
  from transitions t
  where t.to_state = any(${ANY_STATE}::text[]) and ${during(sql`t.at`, stretch)} and ${of('t')}
  union all
  select i.tenant_id, i.repo_id, i.created_at, null, 'new', i.created_at, true, null
  from issues i where ${during(sql`i.created_at`, stretch)} and ${of('i')}`;

export const eventsOf = (stretch: Stretch, of = OF_ALL): RawBuilder<unknown> => sql`
  select e.tenant_id, e.repo_id, e.created_at as at, e.event_type, e.payload ->> 'taskType' as task_type, 1::bigint as n
  from tenants x join pipeline_events e on e.tenant_id = x.id
  where ${during(sql`e.created_at`, stretch)} and ${of('e')}`;

/** Costs recorded in a stretch, without the calls. */
const moneyOf = (stretch: Stretch, of: Of) => sql`
  select c.tenant_id, c.repo_id, c.agent, c.model, a.provider, c.created_at as at, c.amount_usd as usd,
    0::bigint as invocations, 0::bigint as input_tokens, 0::bigint as output_tokens, 0::bigint as cache_read_tokens,
    0::bigint as cache_write_tokens, 0::bigint as max_turns, 0::bigint as no_progress, 0::bigint as unreported_costs
  from tenants x
  join cost_events c on c.tenant_id = x.id
  join agent_invocations a on a.tenant_id = c.tenant_id and a.run_id = c.run_id and a.invocation_index = c.invocation_index
  where ${during(sql`c.created_at`, stretch)} and ${of('c')}`;

/** Costs recorded in a stretch, and the calls whose cost is unreported (agent_invocations_unreported). */
export const costsWithoutCalls = (stretch: Stretch, of = OF_ALL): RawBuilder<unknown> => sql`
  ${moneyOf(stretch, of)}
  union all
  select a.tenant_id, r.repo_id, r.agent, a.model, a.provider, a.created_at, 0, 0, 0, 0, 0, 0, 0, 0, 1
  from tenants x
  join agent_invocations a on a.tenant_id = x.id
  join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
  where a.cost_usd is null and ${during(sql`a.created_at`, stretch)} and ${of('r')}`;

/** The measures of a model call, of `a`. */
const CALL = sql`1, a.input_tokens, a.output_tokens, a.cache_read_tokens, a.cache_write_tokens,
    (a.stop_reason = 'max_turns')::int, (a.stop_reason = 'no_progress')::int, (a.cost_usd is null)::int`;

/** Costs recorded in a stretch, and the calls; a call belongs to the time at which it was first recorded. */
export const costsOf = (stretch: Stretch, of = OF_ALL): RawBuilder<unknown> => sql`
  ${moneyOf(stretch, of)}
  union all
  select a.tenant_id, r.repo_id, r.agent, a.model, a.provider, a.created_at, 0, ${CALL}
  from tenants x
  join agent_invocations a on a.tenant_id = x.id
  join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
  where ${during(sql`a.created_at`, stretch)} and ${of('r')}`;

/**
 * Growth of the calls of closed hours since these were aggregated: the calls of each hour minus its sums. Costs the
 * calls of these hours; the group keeps the reads of each hour apart, or the planner hashes whole tables.
 * @param late a relation (tenant_id, repo_id, hour) of distinct hours.
 */
export const growthOf = (late: RawBuilder<unknown>, of = OF_ALL): RawBuilder<unknown> => sql`
  select l.tenant_id, l.repo_id, g.agent, g.model, g.provider, l.hour as at, 0 as usd, g.invocations, g.input_tokens,
    g.output_tokens, g.cache_read_tokens, g.cache_write_tokens, g.max_turns, g.no_progress, g.unreported_costs
  from ${late} l
  cross join lateral (
    select r.agent, a.model, a.provider, ${CALL}
    from agent_invocations a join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
    where a.tenant_id = l.tenant_id and r.repo_id = l.repo_id and a.created_at >= l.hour
      and a.created_at < l.hour + interval '1 hour' and ${of('r')}
    group by a.tenant_id, a.run_id, a.invocation_index, r.tenant_id, r.id
  ) g (agent, model, provider, invocations, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, max_turns,
    no_progress, unreported_costs)
  union all
  select s.tenant_id, s.repo_id, s.agent, s.model, s.provider, s.at, 0, -s.invocations, -s.input_tokens, -s.output_tokens,
    -s.cache_read_tokens, -s.cache_write_tokens, -s.max_turns, -s.no_progress, -s.unreported_costs
  from ${late} l
  join cost_sums s on s.tenant_id = l.tenant_id and s.repo_id = l.repo_id and s.grain = 'hour' and s.at = l.hour
  where ${of('s')}`;

/** Closed hours with calls that were reported again later. */
const lateHours = (of: Of) => sql`
  (select distinct c.tenant_id, c.repo_id, c.hour from late_costs c where c.hour < ${closedUntil('costs')} and ${of('c')})`;

/**
 * The facts that the rollups lack, under the names that the cells of rollups read: moves, costs, events. Costs are
 * materialized: with a condition of their reader the planner expects a part of all history and hashes its runs.
 */
export const openFacts = (of: Of): RawBuilder<unknown> => sql`
  moves as (${movesOf(open('moves'), of)}), events as (${eventsOf(open('events'), of)}),
  costs as materialized (${costsOf(open('costs'), of)} union all ${growthOf(lateHours(of), of)})`;
