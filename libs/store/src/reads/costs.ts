import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import type { OrgScope } from '../org-scope.ts';
import { type Params, prepared } from '../prepared.ts';
import { jsonList } from './json-list.ts';

/** USD spent in each window, to four decimals. */
export interface CostSums {
  last24hUsd: number;
  last7dUsd: number;
  last30dUsd: number;
  lifetimeUsd: number;
  todayUsd: number;
}

const usd = (condition: RawBuilder<unknown>) =>
  sql`trim_scale(round(coalesce(sum(c.amount_usd) filter (where ${condition}), 0), 4))`;

const since = (days: number) => sql`c.created_at >= svc_now() - ${sql.lit(`${days} days`)}::interval`;

const windows = (dayStart: RawBuilder<unknown>) => sql`
  ${usd(since(1))} as "last24hUsd", ${usd(since(7))} as "last7dUsd", ${usd(since(30))} as "last30dUsd",
  ${usd(sql`true`)} as "lifetimeUsd", ${usd(sql`c.created_at >= ${dayStart}::timestamptz`)} as "todayUsd"`;

/** One JSON object: what the cost events `c` that meet the condition sum up to. */
export const costSums = (where: RawBuilder<unknown>, dayStart: RawBuilder<unknown>): RawBuilder<CostSums> => sql`
  select row_to_json(q) from (select ${windows(dayStart)} from cost_events c where ${where}) q`;

export interface CostSummary {
  total: CostSums;
  byRepo: (Omit<CostSums, 'todayUsd'> & { repo: string })[];
  byAgent: { agent: string; usd: number; invocations: number }[];
  now: string;
}

type Query = { tenantId: number; repoIds: readonly number[] | null; dayStart: string };

const inReach = (p: Params<Query>) => sql`
  c.tenant_id = ${p('tenantId')} and exists (
    select from repos r
    where r.tenant_id = c.tenant_id and r.id = c.repo_id and r.enabled
      and (${p('repoIds')}::bigint[] is null or r.id = any(${p('repoIds')}::bigint[])))`;

const summary = prepared(
  'cost-summary',
  (_db, p: Params<Query>) => sql<CostSummary>`
    select svc_now() as now, (${costSums(inReach(p), p('dayStart'))}) as total,
      ${jsonList(
        sql`
        select r.owner || '/' || r.name as repo, w."last24hUsd", w."last7dUsd", w."last30dUsd", w."lifetimeUsd"
        from repos r
        cross join lateral (
          select ${windows(p('dayStart'))} from cost_events c
          where c.tenant_id = ${p('tenantId')} and c.tenant_id = r.tenant_id and c.repo_id = r.id
        ) w
        where r.tenant_id = ${p('tenantId')} and r.enabled
          and (${p('repoIds')}::bigint[] is null or r.id = any(${p('repoIds')}::bigint[]))
        order by w."lifetimeUsd" desc, r.slug_key`,
        100,
      )} as "byRepo",
      ${jsonList(
        sql`
        select c.agent, trim_scale(round(sum(c.amount_usd), 4)) as usd,
          count(distinct (c.run_id, c.invocation_index)) as invocations
        from cost_events c where ${inReach(p)} group by c.agent order by sum(c.amount_usd) desc, c.agent`,
        100,
      )} as "byAgent"`,
);

/** What everything within reach has cost: as many rows are read as there are cost events. */
export const costSummary = async (read: Db, scope: OrgScope, dayStart: string): Promise<CostSummary> => {
  const row = await summary.first(read, { tenantId: scope.tenantId, repoIds: scope.repoIds, dayStart });
  if (!row) throw new Error('a statement without a condition gave no row');
  return row;
};
