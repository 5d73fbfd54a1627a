import { AGENT_OF, BLOCK_RATE_STATES, KPI_WEEKS, type KpiInputs } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

interface Query {
  tenantId: number;
  repoId: number;
}

const LOOK_BACK = sql.lit(`${KPI_WEEKS * 7} days`);
const AGENTS = sql`array[${sql.join(Object.values(AGENT_OF).map((agent) => sql.lit(agent)))}]`;
const blockStates = sql.join(BLOCK_RATE_STATES.map((state) => sql.lit(state)));

const ofRepo = (p: Params<Query>, alias: string): RawBuilder<unknown> =>
  sql`${sql.ref(`${alias}.tenant_id`)} = ${p('tenantId')} and ${sql.ref(`${alias}.repo_id`)} = ${p('repoId')}`;
const lately = (column: string) => sql`${sql.ref(column)} >= svc_now() - ${LOOK_BACK}::interval`;
const inWeek = (column: string) => sql`${sql.ref(column)} >= w.starts and ${sql.ref(column)} < w.ends`;

/** The current week has no end yet. A week includes its start and excludes its end. */
const weeks = sql`
  select n as week, svc_now() - make_interval(days => 7 * (n + 1)) as starts,
    case when n = 0 then 'infinity' else svc_now() - make_interval(days => 7 * n) end as ends
  from generate_series(0, ${sql.lit(KPI_WEEKS - 1)}) n`;

const moves = (p: Params<Query>) => sql`
  select m.issue_id, m.id, m.from_state, m.to_state, m.trigger, m.at, w.week
  from transitions m join weeks w on ${inWeek('m.at')}
  where ${ofRepo(p, 'm')} and ${lately('m.at')}`;

/** The periods in which issues were not done, as far as they matter: issues that never were done have no row. */
const openTimes = (p: Params<Query>) => sql`
  select e.issue_id, coalesce(e.before, i.created_at) as starts, e.at as ends
  from turns_of_issues e
  join issues i on i.tenant_id = ${p('tenantId')} and i.id = e.issue_id
  where e.to_state = 'done'
  union all
  select e.issue_id, e.at, 'infinity' from turns_of_issues e where e.from_state = 'done' and e.after is null
  union all
  select i.id, i.created_at, 'infinity' from issues i
  where ${ofRepo(p, 'i')} and i.is_open and i.id not in (select e.issue_id from turns_of_issues e)`;

/** A restart; a new plan counts as one only after a pull request. */
const isAgain = (p: Params<Query>) => sql`
  m.trigger in ('reimplement', 'conflict') or m.trigger = 'replan' and exists (
    select from pull_requests r where r.tenant_id = ${p('tenantId')} and r.issue_id = m.issue_id and r.opened_at < m.at)`;

const entries = (p: Params<Query>) => sql`
  select m.week, count(distinct m.issue_id) filter (where m.to_state in (${blockStates})) as blocked,
    count(distinct m.issue_id) filter (where m.to_state = 'failure-blocked') as failure_blocked,
    count(distinct m.issue_id) filter (where ${isAgain(p)}) as reimplemented
  from moves m group by m.week`;

/** The last end of each issue in each week. */
const endings = (p: Params<Query>) => sql`
  select e.week, count(*) as ended, count(*) filter (where exists (
      select from dead_letters d where ${ofRepo(p, 'd')} and d.issue_id = e.issue_id)) as "deadLettered",
    percentile_cont(0.5) within group (order by extract(epoch from e.at - first.at)::float8) as p50
  from (select m.week, m.issue_id, max(m.at) as at from moves m where m.to_state = 'done' group by 1, 2) e
  cross join lateral (
    select t.at from transitions t where t.tenant_id = ${p('tenantId')} and t.issue_id = e.issue_id
    order by t.id limit 1) first
  group by e.week`;

const costs = (p: Params<Query>) => sql`
  select w.week, round(sum(c.amount_usd), 4) as usd, count(distinct c.issue_id) as issues
  from cost_events c join weeks w on ${inWeek('c.created_at')}
  where ${ofRepo(p, 'c')} and ${lately('c.created_at')} and c.issue_id is not null group by w.week`;

/** Counts model calls and their issues by the week of the claim, because the index of claim times covers the runs. */
const calls = (p: Params<Query>) => sql`
  select w.week, sum(v.turns) as turns, count(distinct r.issue_id) as issues
  from runs r
  join weeks w on ${inWeek('r.claimed_at')}
  join agent_invocations v on v.tenant_id = r.tenant_id and v.run_id = r.id
  where ${ofRepo(p, 'r')} and r.agent = any(${AGENTS}) and ${lately('r.claimed_at')} and r.issue_id is not null
  group by w.week`;

/** Issues by the week of their first merge. */
const merges = (p: Params<Query>) => sql`
  select w.week, count(*) as merged, count(*) filter (where f.by_agents and not exists (
      select from transitions t where t.tenant_id = ${p('tenantId')} and t.issue_id = f.issue_id
        and t.to_state = 'changes-requested' and t.at < f.at)) as autonomous
  from (
    select r.issue_id, min(r.merged_at) as at, bool_and(r.agent_authored) as by_agents
    from pull_requests r
    where r.tenant_id = ${p('tenantId')} and r.issue_id in (
      select l.issue_id from pull_requests l where ${ofRepo(p, 'l')} and l.merged and ${lately('l.merged_at')})
    group by r.issue_id
  ) f
  join weeks w on ${inWeek('f.at')}
  group by w.week`;

const samples = prepared(
  'kpi-weeks',
  (_db, p: Params<Query>) => sql<KpiInputs>`
    with weeks as materialized (${weeks}),
    moves as materialized (${moves(p)}),
    turns_of_issues as (
      select issue_id, from_state, to_state, at, lag(at) over each as before, lead(at) over each as after
      from moves where to_state = 'done' or from_state = 'done'
      window each as (partition by issue_id order by id)
    ),
    open_times as (${openTimes(p)}),
    active as (
      select w.week, count(distinct o.issue_id) as n from weeks w join open_times o on o.starts < w.ends and o.ends > w.starts
      group by w.week
    ),
    entries as (${entries(p)}), endings as (${endings(p)}), costs as (${costs(p)}), calls as (${calls(p)}),
    merges as (${merges(p)})
    select w.week, coalesce(a.n, 0) as active, coalesce(e.blocked, 0) as blocked,
      coalesce(e.failure_blocked, 0) as "failureBlocked", coalesce(e.reimplemented, 0) as reimplemented,
      coalesce(d.ended, 0) as ended, coalesce(d."deadLettered", 0) as "deadLettered", coalesce(c.usd, 0) as "costUsd",
      coalesce(c.issues, 0) as "costIssues", coalesce(v.turns, 0) as turns, coalesce(v.issues, 0) as "turnIssues",
      d.p50 as "cycleP50Seconds", coalesce(g.merged, 0) as merged,
      coalesce(g.autonomous, 0) as autonomous
    from weeks w
    left join active a using (week) left join entries e using (week) left join endings d using (week)
    left join costs c using (week) left join calls v using (week) left join merges g using (week)
    order by w.week`,
);

/**
 * The current week of a repo and the four before it, the current one first. Cost: the events of the repo in these five
 * weeks, each kind by an index over repo and time, and its open issues.
 */
export const kpiWeeks = (db: Db, tenantId: number, repoId: number): Promise<KpiInputs[]> =>
  samples.all(db, { tenantId, repoId });
