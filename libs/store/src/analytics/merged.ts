import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type AnalyticsScope, within } from './scope.ts';

interface MergedIssues {
  /** UTC date of the first merge, YYYY-MM-DD. */
  date: string;
  inWindow: boolean;
  merged: number;
  autonomous: number;
}

/**
 * Issues by the day of their first merged pull request, from `before` on, window and baseline separately, and how many
 * of them were autonomous: agents opened every pull request, and no person requested changes before that merge. Costs
 * the merges of both windows (index pull_requests_merged), three probes each.
 */
export async function mergedIssues(
  fleet: Db,
  scope: AnalyticsScope,
  { before, start, end }: { before: Date; start: Date; end: Date },
): Promise<MergedIssues[]> {
  const { rows } = await sql<MergedIssues>`
    ${fleetNote('operators see all tenants')}
    with touched as (
      select distinct p.tenant_id, p.issue_id from pull_requests p
      where p.merged and p.merged_at >= ${before.toISOString()}::timestamptz and p.merged_at <= ${end.toISOString()}::timestamptz
        and p.issue_id is not null and ${within('p', scope)}
    ), first as (
      select p.tenant_id, p.issue_id, min(p.merged_at) filter (where p.merged) as at,
        bool_and(p.agent_authored) as by_agents
      from touched x join pull_requests p on p.tenant_id = x.tenant_id and p.issue_id = x.issue_id
      group by p.tenant_id, p.issue_id
      having min(p.merged_at) filter (where p.merged) >= ${before.toISOString()}::timestamptz
    ), merged as (
      select f.at, f.by_agents and count(t.id) = 0 as alone
      from first f
      left join transitions t on t.tenant_id = f.tenant_id and t.issue_id = f.issue_id
        and t.to_state = 'changes-requested' and t.at < f.at
      group by f.tenant_id, f.issue_id, f.at, f.by_agents
    )
    select (at at time zone 'UTC')::date as date, at >= ${start.toISOString()}::timestamptz as "inWindow",
      count(*)::int as merged, (count(*) filter (where alone))::int as autonomous
    from merged group by 1, 2 order by 1`.execute(fleet);
  return rows;
}

/** Pull requests merged in a window, and how many of them agents opened. */
export async function mergedPullRequests(
  fleet: Db,
  scope: AnalyticsScope,
  { start, end }: { start: Date; end: Date },
): Promise<{ merged: number; byAgents: number }> {
  const { rows } = await sql<{ merged: number; byAgents: number }>`
    ${fleetNote('operators see all tenants')}
    select count(*)::int as merged, (count(*) filter (where p.agent_authored))::int as "byAgents"
    from pull_requests p
    where p.merged and p.merged_at >= ${start.toISOString()}::timestamptz and p.merged_at <= ${end.toISOString()}::timestamptz
      and ${within('p', scope)}`.execute(fleet);
  return rows[0] ?? { merged: 0, byAgents: 0 };
}
