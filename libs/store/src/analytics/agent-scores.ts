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
  /** With a recorded check of the merged head; `passedChecks` of them never failed their checks. */
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
    ), merged as (
      select x.tenant_id, x.issue_id, f.repo_id, f.merged_at as at, f.head_sha, f.reverted_by
      from touched x cross join lateral (
        select p.repo_id, p.merged_at, p.head_sha, p.reverted_by from pull_requests p
        where p.tenant_id = x.tenant_id and p.issue_id = x.issue_id and p.merged and p.agent_authored
        order by p.merged_at, p.number limit 1
      ) f
      where f.merged_at >= ${from}
    ), scored as (
      select coalesce(call.agent, nullif(first.compared_agent, ${sql.lit(ANY_AGENT)})) as agent, call.model,
        not moved.reviewed as passed_review, not moved.failed as passed_checks,
        exists (select from commit_checks c
          where c.tenant_id = m.tenant_id and c.repo_id = m.repo_id and c.sha = m.head_sha) as checked,
        exists (select from pull_requests v
          where v.tenant_id = m.tenant_id and v.repo_id = m.repo_id and v.number = m.reverted_by and v.merged
            and v.merged_at <= m.at + ${sql.lit(REVERT_DAYS)} * interval '1 day') as reverted,
        work.ms, work.usd, work.unreported, work.calls > 0 and work.unreported = 0 as priced
      from merged m
      cross join lateral (
        select r.id, r.compared_agent from runs r
        where r.tenant_id = m.tenant_id and r.issue_id = m.issue_id and r.task_type = 'develop'
          and r.outcome = 'submitted' and r.finished_at <= m.at
        order by r.id limit 1
      ) first
      left join lateral (
        select i.agent, i.model from agent_invocations i
        where i.tenant_id = m.tenant_id and i.run_id = first.id order by i.invocation_index limit 1
      ) call on true
      cross join lateral (
        select coalesce(bool_or(t.trigger in ('changes-requested', 'review-changes-requested')), false) as reviewed,
          coalesce(bool_or(t.trigger = 'checks-failed'), false) as failed
        from transitions t
        where t.tenant_id = m.tenant_id and t.issue_id = m.issue_id and t.to_state = 'changes-requested' and t.at < m.at
      ) moved
      cross join lateral (
        select coalesce(sum(extract(epoch from r.finished_at - r.claimed_at) * 1000), 0)::float8 as ms,
          coalesce(sum(r.cost_usd), 0) as usd, coalesce(sum(c.calls), 0) as calls,
          coalesce(sum(c.unreported), 0) as unreported
        from runs r cross join lateral (
          select count(*) as calls, count(*) filter (where i.cost_usd is null) as unreported from agent_invocations i
          where i.tenant_id = r.tenant_id and i.run_id = r.id
        ) c
        where r.tenant_id = m.tenant_id and r.issue_id = m.issue_id and r.task_type = 'develop' and r.claimed_at < m.at
      ) work
      where not ${comparedOnly}::boolean or first.compared_agent <> ${sql.lit(ANY_AGENT)}
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
