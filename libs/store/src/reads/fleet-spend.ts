import type { BudgetPercent } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import { fleetNote } from '../json.ts';
import type { CostSums } from './costs.ts';

const NOTE = fleetNote('operators see all tenants');
const TODAY = sql`(svc_now() at time zone 'UTC')::date`;
const MIDNIGHT = sql`date_trunc('day', svc_now(), 'UTC')`;
const usd = (amount: RawBuilder<unknown>) => sql`trim_scale(round(coalesce(${amount}, 0), 4))`;

/** What a window that ends now has cost: the whole days in it by their sums, and the part of its first day by event. */
const rolling = (days: number): RawBuilder<unknown> => {
  const start = sql`svc_now() - ${sql.lit(`${days} days`)}::interval`;
  const firstDay = sql`((${start}) at time zone 'UTC')::date`;
  return usd(sql`
    (select coalesce(sum(d.spent_usd), 0) from daily_spend d where d.day > ${firstDay})
    + (select coalesce(sum(c.amount_usd), 0) from tenants t join cost_events c on c.tenant_id = t.id
      where c.created_at >= ${start} and c.created_at < (${firstDay} + 1)::timestamp at time zone 'UTC')`);
};

/**
 * What all tenants have cost, in USD. Costs the days of each tenant, and three times the events of one day: the same
 * after ten million events as after ten thousand.
 */
export async function fleetCosts(fleet: Db): Promise<CostSums> {
  const { rows } = await sql<CostSums>`
    ${NOTE}
    select ${rolling(1)} as "last24hUsd", ${rolling(7)} as "last7dUsd", ${rolling(30)} as "last30dUsd",
      ${usd(sql`(select sum(d.spent_usd) from daily_spend d)`)} as "lifetimeUsd",
      ${usd(sql`(select sum(d.spent_usd) from daily_spend d where d.day = ${TODAY})`)} as "todayUsd"`.execute(fleet);
  const [sums] = rows;
  if (!sums) throw new Error('a statement without a condition gave no row');
  return sums;
}

export interface TenantSpend {
  tenantId: number;
  externalId: string;
  name: string;
  /** Since midnight UTC, and since the first of the month. */
  todayUsd: number;
  monthUsd: number;
  /** The highest threshold of today that people were told of. */
  toldPercent: BudgetPercent | null;
}

/** What each tenant has spent: one probe of its days. */
export async function spendByTenant(fleet: Db): Promise<TenantSpend[]> {
  const { rows } = await sql<TenantSpend>`
    ${NOTE}
    select t.id as "tenantId", t.external_id as "externalId", t.name, ${usd(sql`s.today`)} as "todayUsd",
      ${usd(sql`s.month`)} as "monthUsd", s.told as "toldPercent"
    from tenants t
    cross join lateral (
      select sum(d.spent_usd) as month, sum(d.spent_usd) filter (where d.day = ${TODAY}) as today,
        max(d.told_percent) filter (where d.day = ${TODAY}) as told
      from daily_spend d where d.tenant_id = t.id and d.day >= date_trunc('month', ${TODAY})::date
    ) s
    order by t.external_id`.execute(fleet);
  return rows;
}

/** What each agent has spent for each tenant since midnight UTC: the events of today, by the key of their table. */
export async function agentSpendToday(fleet: Db): Promise<{ agent: string; tenant: string; usd: number }[]> {
  const { rows } = await sql<{ agent: string; tenant: string; usd: number }>`
    ${NOTE}
    select c.agent, t.external_id as tenant, ${usd(sql`sum(c.amount_usd)`)} as usd
    from tenants t join cost_events c on c.tenant_id = t.id and c.created_at >= ${MIDNIGHT}
    group by c.agent, t.external_id`.execute(fleet);
  return rows;
}
