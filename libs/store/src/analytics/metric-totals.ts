import type { TaskType } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { OF_ALL, openFacts } from './rollups/facts.ts';
import { cellsOf } from './rollups/sums.ts';

const note = fleetNote('metrics of the whole deployment');

/** Models of an organisation with a name of their own in the metrics; the others share one. */
const MAX_MODELS = 100;

/**
 * The name of each model in the metrics: those with the highest spending and the most tokens keep theirs. Names come from
 * workers, and each would be a time series that never ends.
 */
const named = sql`
  ${openFacts(OF_ALL)},
  spent as materialized (
    select s.tenant_id, s.repo_id, s.agent, s.model, s.usd, s.unreported_costs, s.input_tokens, s.output_tokens,
      s.cache_read_tokens, s.cache_write_tokens
    from cost_sums s where s.grain = 'month'
    union all
    select c.tenant_id, c.repo_id, c.agent, c.model, c.usd, c.unreported_costs, c.input_tokens, c.output_tokens,
      c.cache_read_tokens, c.cache_write_tokens
    from costs c
  ),
  named as materialized (
    select tenant_id, model, case when row_number() over (partition by tenant_id
      order by sum(usd) desc, sum(input_tokens + output_tokens) desc, model) <= ${sql.lit(MAX_MODELS)}
      then model else 'other' end as name
    from spent group by 1, 2
  )`;

export interface MetricTotals {
  costs: { repo: string; agent: string; model: string; usd: number; unreported: number }[];
  tokens: { model: string; input: number; output: number; cacheRead: number; cacheWrite: number }[];
  transitions: { repo: string; from: string; to: string; n: number }[];
  tasks: { task_type: string; event_type: string; n: number }[];
}

/**
 * The sums are a relation of their own: a distributed store keeps them in one place, and the repos in another. All-time
 * totals, from the sums by month and the open facts. A total falls when old rollups are dropped, which a
 * counter's reader treats as a restart. Cost: the sums by month, and the open facts.
 */
export async function metricTotals(fleet: Db): Promise<MetricTotals> {
  const costs = await sql<MetricTotals['costs'][number]>`
    ${note}
    with ${named}, c as materialized (
      select s.tenant_id, s.repo_id, s.agent, n.name as model, sum(s.usd) as usd, sum(s.unreported_costs) as unreported
      from spent s join named n on n.tenant_id = s.tenant_id and n.model = s.model
      group by 1, 2, 3, 4
    )
    select r.owner || '/' || r.name as repo, c.agent, c.model, sum(c.usd) as usd, sum(c.unreported)::bigint as unreported
    from c join repos r on r.tenant_id = c.tenant_id and r.id = c.repo_id
    group by 1, 2, 3`.execute(fleet);
  const tokens = await sql<MetricTotals['tokens'][number]>`
    ${note}
    with ${named}, c as materialized (
      select s.tenant_id, s.repo_id, n.name as model, sum(s.input_tokens) as input, sum(s.output_tokens) as output,
        sum(s.cache_read_tokens) as cache_read, sum(s.cache_write_tokens) as cache_write
      from spent s join named n on n.tenant_id = s.tenant_id and n.model = s.model
      group by 1, 2, 3
    )
    select c.model, sum(c.input) as input, sum(c.output) as output, sum(c.cache_read) as "cacheRead",
      sum(c.cache_write) as "cacheWrite"
    from c join repos r on r.tenant_id = c.tenant_id and r.id = c.repo_id
    group by 1`.execute(fleet);
  const transitions = await sql<MetricTotals['transitions'][number]>`
    ${note}
    with ${openFacts(OF_ALL)}, t as materialized (
      select tenant_id, repo_id, from_state, to_state, sum(n) as n from (
        select s.tenant_id, s.repo_id, s.from_state, s.to_state, s.n from transition_counts s where s.grain = 'month'
        union all
        select c.tenant_id, c.repo_id, c.from_state, c.to_state, c.n from (${cellsOf('transition_counts')}) c
      ) parts group by 1, 2, 3, 4
    )
    select r.owner || '/' || r.name as repo, t.from_state as "from", t.to_state as "to", sum(t.n)::bigint as n
    from t join repos r on r.tenant_id = t.tenant_id and r.id = t.repo_id
    group by 1, 2, 3`.execute(fleet);
  const tasks = await sql<MetricTotals['tasks'][number]>`
    ${note}
    with ${openFacts(OF_ALL)}, t as materialized (
      select tenant_id, repo_id, task_type, event_type, sum(n) as n from (
        select s.tenant_id, s.repo_id, s.task_type, s.event_type, s.n from task_counts s where s.grain = 'month'
        union all
        select c.tenant_id, c.repo_id, c.task_type, c.event_type, c.n from (${cellsOf('task_counts')}) c
      ) parts group by 1, 2, 3, 4
    )
    select t.task_type, t.event_type, sum(t.n)::bigint as n
    from t join repos r on r.tenant_id = t.tenant_id and r.id = t.repo_id
    group by 1, 2`.execute(fleet);
  return { costs: costs.rows, tokens: tokens.rows, transitions: transitions.rows, tasks: tasks.rows };
}

/** The task types of which any tenant has claimed a task, ever. Cost: the sums by month, and the open events. */
export async function taskTypesThatRan(fleet: Db): Promise<TaskType[]> {
  const { rows } = await sql<{ task_type: TaskType }>`
    ${note}
    with ${openFacts(OF_ALL)}
    select distinct s.task_type from task_counts s where s.grain = 'month' and s.event_type <> 'task_enqueued'
    union
    select e.task_type from events e where e.task_type is not null and e.event_type <> 'task_enqueued'`.execute(fleet);
  return rows.map(({ task_type }) => task_type);
}

/** Runs of all tenants that ended by themselves within a window, and how long each took, in seconds. */
export async function endedRuns(
  fleet: Db,
  window: { from: string; to: string; agents: readonly string[] },
): Promise<{ task_type: string; seconds: number }[]> {
  const { from, to, agents } = window;
  // By the claims of the last day (index runs_of_agent): there is no index over the end of runs, because every run
  // would update it.
  const { rows } = await sql<{ task_type: string; seconds: number }>`
    ${note}
    select u.task_type, extract(epoch from u.finished_at - u.claimed_at)::float8 as seconds
    from repos r join runs u on u.tenant_id = r.tenant_id and u.repo_id = r.id
    where r.enabled and u.agent = any(${agents}::text[]) and u.claimed_at > ${from}::timestamptz - interval '1 day'
      and u.finished_at > ${from}::timestamptz and u.finished_at <= ${to}::timestamptz
      and u.status <> 'cancelled'`.execute(fleet);
  return rows;
}

/**
 * Claims of all tenants since a time, and how long each task had waited for a worker, in seconds; without those of
 * releases that did not record it. Cost: a probe for each repo and agent (index runs_of_agent), and the claims
 * themselves.
 */
export async function claimsSince(
  fleet: Db,
  { from, agents }: { from: string; agents: readonly string[] },
): Promise<{ id: number; seconds: number }[]> {
  const { rows } = await sql<{ id: number; seconds: number }>`
    ${note}
    select u.id, extract(epoch from u.claimed_at - u.ready_at)::float8 as seconds
    from repos r join runs u on u.tenant_id = r.tenant_id and u.repo_id = r.id
    where u.agent = any(${agents}::text[]) and u.claimed_at > ${from}::timestamptz and u.ready_at is not null`.execute(
    fleet,
  );
  return rows;
}
