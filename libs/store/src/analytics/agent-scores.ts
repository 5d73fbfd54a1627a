import { ANY_AGENT, REVERT_DAYS } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type AnalyticsScope, within } from './scope.ts';

export interface AgentScore {
  /** Null = not reported. */
  agent: string | null;
  model: string | null;
  mergedIssues: number;
  /** Without a request for changes before the merge. */
  passedReview: number;
  /** Number of issues with a recorded check of the merged head; `passedChecks` of them never failed their checks. */
  checkedIssues: number;
  passedChecks: number;
  reverts: number;
  /** Median. */
  wallTimeMs: number;
  /** Issues with invocations all of which have a cost, and their mean cost; null without such issues. */
  pricedIssues: number;
  costPerMergeUsd: number | null;
  unreportedCosts: number;
}

/**
 * Each kind of fact is read by its own join and all are grouped by issue at once: subqueries for each issue would be
 * refused by a distributed store, and joins of grouped relations are planned badly. Pull requests are read in grouped
 * laterals, which such a store accepts: a plain join is planned as a hash of the whole table.
 *
 * Scores of each agent and model over the issues that were first merged from `start` to `end`. The metric registry
 * defines the figures (group `Per agent`). Costs the merges of the window (index pull_requests_merged), each with the
 * runs, transitions and invocations of its issue by their indexes.
 * @param comparedOnly only issues whose submitting task was selected by a comparison.
 */
export async function agentScores(
  fleet: Db,
  scope: AnalyticsScope,
  { start, end, comparedOnly }: { start: Date; end: Date; comparedOnly: boolean },
): Promise<AgentScore[]> {
  const from = sql`${start.toISOString()}::timestamptz`;
  const { rows } = await sql<AgentScore>`
    ${fleetNote('operators see all tenants')}
    with touched as (
      select distinct p.tenant_id, p.issue_id from pull_requests p
      where p.merged and p.merged_at >= ${from} and p.merged_at <= ${end.toISOString()}::timestamptz
        and p.issue_id is not null and p.agent_authored and ${within('p', scope)}
    ), first_merges as (
      select f.tenant_id, f.issue_id, f.repo_id, f.at, f.head_sha, f.reverted_by
      from touched x cross join lateral (
        select distinct on (p.tenant_id, p.issue_id) p.tenant_id, p.issue_id, p.repo_id, p.merged_at as at, p.head_sha,
          p.reverted_by
        from pull_requests p
        where p.tenant_id = x.tenant_id and p.issue_id = x.issue_id and p.merged and p.agent_authored
        order by p.tenant_id, p.issue_id, p.merged_at, p.number
      ) f
    ), merged as materialized (select * from first_merges where at >= ${from}),
    submitted as materialized (
      select distinct on (r.tenant_id, r.issue_id) r.tenant_id, r.issue_id, r.id as run_id, r.compared_agent
      from merged m join runs r on r.tenant_id = m.tenant_id and r.issue_id = m.issue_id
      where r.task_type = 'develop' and r.outcome = 'submitted' and r.finished_at <= m.at
      order by r.tenant_id, r.issue_id, r.id
    ), called as (
      select distinct on (s.tenant_id, s.issue_id) s.tenant_id, s.issue_id, i.agent, i.model
      from submitted s join agent_invocations i on i.tenant_id = s.tenant_id and i.run_id = s.run_id
      order by s.tenant_id, s.issue_id, i.invocation_index
    ), work as materialized (
      select r.tenant_id, r.issue_id, r.id as run_id, coalesce(r.cost_usd, 0) as usd,
        (case when r.status <> 'cancelled' then extract(epoch from r.finished_at - r.claimed_at) * 1000 end)::float8 as ms
      from merged m join runs r on r.tenant_id = m.tenant_id and r.issue_id = m.issue_id
      where r.task_type = 'develop' and r.claimed_at < m.at
    ), facts (tenant_id, issue_id, compared_agent, agent, model, by_review, by_checks, ms, usd, calls, unreported, checked,
      reverted) as (
      select tenant_id, issue_id, compared_agent, null, null, false, false, 0::float8, 0::numeric, 0, 0, false, false
      from submitted
      union all
      select tenant_id, issue_id, null, agent, model, false, false, 0, 0, 0, 0, false, false from called
      union all
      select t.tenant_id, t.issue_id, null, null, null, t.trigger in ('changes-requested', 'review-changes-requested'),
        t.trigger = 'checks-failed', 0, 0, 0, 0, false, false
      from merged m join transitions t on t.tenant_id = m.tenant_id and t.issue_id = m.issue_id
      where t.to_state = 'changes-requested' and t.at < m.at
      union all
      select tenant_id, issue_id, null, null, null, false, false, ms, usd, 0, 0, false, false from work
      union all
      select w.tenant_id, w.issue_id, null, null, null, false, false, 0, 0, 1, (i.cost_usd is null)::int, false, false
      from work w join agent_invocations i on i.tenant_id = w.tenant_id and i.run_id = w.run_id
      union all
      select m.tenant_id, m.issue_id, null, null, null, false, false, 0, 0, 0, 0, true, false
      from merged m join commit_checks c on c.tenant_id = m.tenant_id and c.repo_id = m.repo_id and c.sha = m.head_sha
      union all
      select m.tenant_id, m.issue_id, null, null, null, false, false, 0, 0, 0, 0, false, true
      from merged m cross join lateral (
        select v.tenant_id, v.merged_at from pull_requests v
        where v.tenant_id = m.tenant_id and v.repo_id = m.repo_id and v.number = m.reverted_by and v.merged
        group by v.tenant_id, v.merged_at
      ) r
      where r.merged_at <= m.at + ${sql.lit(REVERT_DAYS)} * interval '1 day'
    ), scored as (
      select coalesce(max(agent), nullif(max(compared_agent), ${sql.lit(ANY_AGENT)})) as agent, max(model) as model,
        not bool_or(by_review) as passed_review, not bool_or(by_checks) as passed_checks, bool_or(checked) as checked,
        bool_or(reverted) as reverted, coalesce(sum(ms), 0) as ms, sum(usd) as usd, sum(unreported) as unreported,
        sum(calls) > 0 and sum(unreported) = 0 as priced
      from facts group by tenant_id, issue_id
      having max(compared_agent) is not null
        and (not ${comparedOnly}::boolean or max(compared_agent) <> ${sql.lit(ANY_AGENT)})
    )
    select agent, model, count(*)::int as "mergedIssues", (count(*) filter (where passed_review))::int as "passedReview",
      (count(*) filter (where checked))::int as "checkedIssues",
      (count(*) filter (where checked and passed_checks))::int as "passedChecks",
      (count(*) filter (where reverted))::int as reverts,
      percentile_cont(0.5) within group (order by ms) as "wallTimeMs",
      (count(*) filter (where priced))::int as "pricedIssues",
      round(avg(usd) filter (where priced), 4)::float8 as "costPerMergeUsd", sum(unreported)::int as "unreportedCosts"
    from scored group by 1, 2 order by count(*) desc, agent collate "C", model collate "C"`.execute(fleet);
  return rows;
}
