import { type BudgetPercent, IN_FLIGHT_STATES } from '@pipeline/domain';
import { sql } from 'kysely';
import { OF_ALL, openFacts } from '../analytics/rollups/facts.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { MIDNIGHT } from './budgets.ts';

export interface TenantSpending {
  tenantId: number;
  externalId: string;
  name: string;
  todayUsd: number;
  monthUsd: number;
  /** Model calls without a cost. */
  todayUnreported: number;
  monthUnreported: number;
  /** The highest reported threshold of today's budget. */
  toldPercent: BudgetPercent | null;
  inFlight: number;
}

/**
 * Costs of every tenant today and this month (UTC), and its number of tasks in progress. Costs the days of the month and the open calls.
 */
export async function spendingOfTenants(fleet: Db): Promise<TenantSpending[]> {
  const states = [...IN_FLIGHT_STATES];
  const { rows } = await sql<TenantSpending>`
    ${fleetNote('operators see all tenants')}
    with today as (select (svc_now() at time zone 'UTC')::date as day, ${MIDNIGHT} as midnight),
    told as (
      select b.tenant_id, b.told_percent from budget_days b join today on b.day = today.day
    ), ${openFacts(OF_ALL)},
    spent as (
      select c.tenant_id, sum(c.usd) as month, sum(c.unreported_costs) as month_unreported,
        sum(c.usd) filter (where c.at >= today.midnight) as day,
        sum(c.unreported_costs) filter (where c.at >= today.midnight) as day_unreported
      from (
        select s.tenant_id, s.at, s.usd, s.unreported_costs from cost_sums s where s.grain = 'day'
        union all select o.tenant_id, o.at, o.usd, o.unreported_costs from costs o
      ) c cross join today
      where c.at >= date_trunc('month', today.day::timestamp) at time zone 'UTC' group by 1
    ), counted as (
      select n.tenant_id, sum(n.n) as n from (
        select c.tenant_id, c.n from issue_counts c where c.state = any(${states}::text[])
        union all select c.tenant_id, c.n from issue_count_deltas c where c.state = any(${states}::text[])
      ) n group by 1
    )
    select t.id as "tenantId", t.external_id as "externalId", t.name, coalesce(s.day, 0) as "todayUsd",
      coalesce(s.month, 0) as "monthUsd", coalesce(s.day_unreported, 0)::bigint as "todayUnreported",
      coalesce(s.month_unreported, 0)::bigint as "monthUnreported", b.told_percent as "toldPercent", coalesce(c.n, 0)::int as "inFlight"
    from tenants t
    left join spent s on s.tenant_id = t.id
    left join told b on b.tenant_id = t.id
    left join counted c on c.tenant_id = t.id
    order by t.external_id`.execute(fleet);
  return rows;
}
