import { type RawBuilder, sql } from 'kysely';
import type { OrgScope } from '../accounts/org-scope.ts';
import { costsOf, costsWithoutCalls, type Of, openFacts } from '../analytics/rollups/facts.ts';
import { firstWhole } from '../analytics/rollups/sums.ts';
import { type AnalyticsScope, openFactsOf, within } from '../analytics/scope.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote, jsonList } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** Column names of a cost source. */
const COLUMNS = sql`
  x.tenant_id, x.repo_id, x.agent, x.model, x.provider, x.usd, x.invocations, x.input_tokens, x.output_tokens,
  x.cache_read_tokens, x.cache_write_tokens, x.max_turns, x.no_progress,
  x.unreported_costs`;

/** Start of the window; null = the first cost event. */
export type Start = RawBuilder<unknown> | null;

/**
 * Costs since then, as rows to be summed: days from the daily sums, the rest of the first day from the hourly ones, the
 * rest of the first hour and the open rest from cost events and calls. `costs` of the same scope must precede it in the
 * statement, so that all parts belong to one snapshot.
 * @param rows how the rest of the first hour is read: with the calls, or costs and unreported ones only.
 */
function spentSince(start: Start, of: Of, rows = costsOf): RawBuilder<unknown> {
  if (start === null) {
    return sql`
      select ${COLUMNS} from cost_sums x where x.grain = 'month' and ${of('x')}
      union all select ${COLUMNS} from costs x`;
  }
  const [hour, day] = [firstWhole('1 hour', start), firstWhole('1 day', start)];
  return sql`
    select ${COLUMNS} from cost_sums x where x.grain = 'day' and x.at >= ${day} and ${of('x')}
    union all
    select ${COLUMNS} from cost_sums x where x.grain = 'hour' and x.at >= ${hour} and x.at < ${day} and ${of('x')}
    union all
    select ${COLUMNS} from costs x where x.at >= ${hour}
    union all
    select ${COLUMNS} from (${rows({ from: start, to: hour }, of)}) x`;
}

/**
 * USD and model calls by window, tenant, repo and agent: span, tenant_id, repo_id, agent, usd, invocations,
 * unreported_costs.
 */
const spentBySpan = (starts: Readonly<Record<string, Start>>, of: Of, rows = costsOf): RawBuilder<unknown> =>
  sql.join(
    Object.entries(starts).map(
      ([span, start]) => sql`
        select ${sql.lit(span)}::text as span, tenant_id, repo_id, agent, sum(usd) as usd,
          sum(invocations)::bigint as invocations, sum(unreported_costs)::bigint as unreported_costs
        from (${spentSince(start, of, rows)}) p group by 2, 3, 4`,
    ),
    sql` union all `,
  );

/** Start of a spending window; null = the first cost event. */
type Since = Date | null;

const ofScope =
  (scope: AnalyticsScope): Of =>
  (alias) =>
    within(alias, scope);

const startOf = (since: Since) => since && sql`${since.toISOString()}::timestamptz`;

export interface Spent {
  /** Name of the window. */
  span: string;
  tenant_id: number;
  repo_id: number;
  agent: string;
  usd: number;
  invocations: number;
  /** Model calls without a cost. */
  unreported_costs: number;
}

/** USD and model calls by window, repo and agent. Costs a row for each repo, agent, model and day; one statement. */
export async function spentByRepoAndAgent(
  fleet: Db,
  scope: AnalyticsScope,
  spans: Readonly<Record<string, Since>>,
): Promise<Spent[]> {
  const starts = Object.fromEntries(Object.entries(spans).map(([span, since]) => [span, startOf(since)]));
  const { rows } = await sql<Spent>`
    ${fleetNote('operators see all tenants')}
    with ${openFactsOf(scope)} ${spentBySpan(starts, ofScope(scope))}`.execute(fleet);
  return rows;
}

interface ModelSpending {
  model: string;
  provider: string;
  usd: number;
  invocations: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  maxTurns: number;
  noProgress: number;
  unreportedCosts: number;
}

/** Cost per model since then, highest first. */
export async function spentByModel(fleet: Db, scope: AnalyticsScope, since: Since): Promise<ModelSpending[]> {
  const { rows } = await sql<ModelSpending>`
    ${fleetNote('operators see all tenants')}
    with ${openFactsOf(scope)}
    select model, provider, sum(usd) as usd, sum(invocations)::bigint as invocations,
      sum(input_tokens) as "inputTokens", sum(output_tokens) as "outputTokens",
      sum(cache_read_tokens) as "cacheReadTokens", sum(cache_write_tokens) as "cacheWriteTokens",
      sum(max_turns)::bigint as "maxTurns", sum(no_progress)::bigint as "noProgress",
      sum(unreported_costs)::bigint as "unreportedCosts"
    from (${spentSince(startOf(since), ofScope(scope))}) p
    group by model, provider having sum(usd) <> 0 or sum(invocations) <> 0
    order by sum(usd) desc, model, provider`.execute(fleet);
  return rows;
}

/** The windows of spending that every summary has. */
const SPANS = ['last24h', 'last7d', 'last30d', 'lifetime', 'today'] as const;
export type CostSpan = (typeof SPANS)[number];

/** USD spent in each window, to four decimals, and the number of its model calls whose cost is unreported. */
export type CostSums = Record<`${CostSpan}Usd` | `${CostSpan}UnreportedCosts`, number>;

/** Start of each window. */
const startsOf = (dayStart: RawBuilder<unknown>): Readonly<Record<CostSpan, Start>> => ({
  last24h: sql`svc_now() - interval '1 day'`,
  last7d: sql`svc_now() - interval '7 days'`,
  last30d: sql`svc_now() - interval '30 days'`,
  lifetime: null,
  today: sql`${dayStart}::timestamptz`,
});

const sumsOf = (span: CostSpan) => {
  const sum = (column: string) =>
    sql`coalesce(sum(${sql.ref(`s.${column}`)}) filter (where s.span = ${sql.lit(span)}), 0)`;
  return sql`
    trim_scale(round(${sum('usd')}, 4)) as ${sql.ref(`${span}Usd`)},
    ${sum('unreported_costs')}::bigint as ${sql.ref(`${span}UnreportedCosts`)}`;
};

const OF_REPO = sql.join(SPANS.filter((span) => span !== 'today').map(sumsOf));
const WINDOWS = sql.join(SPANS.map(sumsOf));

/**
 * Call counts are reported for the all-time window only, which reads months: the first hour of a window needs only the
 * cost and the calls without one.
 */
const spent = (dayStart: RawBuilder<unknown>, of: Of) => spentBySpan(startsOf(dayStart), of, costsWithoutCalls);

const ofRepo = prepared('costs-of-repo', (_db, p: Params<{ tenantId: number; repoId: number; dayStart: string }>) => {
  const of: Of = (alias) =>
    sql`${sql.ref(`${alias}.tenant_id`)} = ${p('tenantId')} and ${sql.ref(`${alias}.repo_id`)} = ${p('repoId')}`;
  return sql<CostSums>`with ${openFacts(of)} select ${WINDOWS} from (${spent(p('dayStart'), of)}) s`;
});

/**
 * Costs of a repo. Costs its sums of thirty days and of every month.
 * @param dayStart start of the current day, UTC.
 */
export async function costsOfRepo(
  read: Db,
  repo: { tenantId: number; repoId: number },
  dayStart: string,
): Promise<CostSums> {
  const row = await ofRepo.first(read, { ...repo, dayStart });
  if (!row) throw new Error('a statement without a condition gave no row');
  return row;
}

export interface CostSummary {
  total: CostSums;
  byRepo: (Omit<CostSums, 'todayUsd' | 'todayUnreportedCosts'> & { repo: string })[];
  byAgent: { agent: string; usd: number; invocations: number; unreportedCosts: number }[];
  now: string;
}

type Query = { tenantId: number; repoIds: readonly number[] | null; repoKey: string | null; dayStart: string };

/** Restricts a table to the scope by repo ids, each of which is a range of the index. */
const inReach =
  (p: Params<Query>): Of =>
  (alias) =>
    sql`
    ${sql.ref(`${alias}.tenant_id`)} = ${p('tenantId')}
    and ${sql.ref(`${alias}.repo_id`)} = any(array(select reach.id from reach))`;

const summary = prepared(
  'cost-summary',
  (_db, p: Params<Query>) => sql<CostSummary>`
    with reach as (
      select r.id, r.owner || '/' || r.name as repo, r.slug_key from repos r
      where r.tenant_id = ${p('tenantId')} and r.enabled
        and (${p('repoIds')}::bigint[] is null or r.id = any(${p('repoIds')}::bigint[]))
        and (${p('repoKey')}::text is null or r.slug_key = ${p('repoKey')}::text)
    ), ${openFacts(inReach(p))},
    spent as materialized (${spent(p('dayStart'), inReach(p))})
    select svc_now() as now, (select row_to_json(q) from (select ${WINDOWS} from spent s) q) as total,
      ${jsonList(
        sql`
        select reach.repo, ${OF_REPO} from reach left join spent s on s.repo_id = reach.id
        group by reach.id, reach.repo, reach.slug_key order by "lifetimeUsd" desc, reach.slug_key`,
        100,
      )} as "byRepo",
      ${jsonList(
        sql`
        select s.agent, trim_scale(round(sum(s.usd), 4)) as usd, sum(s.invocations) as invocations,
          sum(s.unreported_costs) as "unreportedCosts"
        from spent s where s.span = 'lifetime'
        group by s.agent having sum(s.usd) <> 0 or sum(s.invocations) <> 0 order by sum(s.usd) desc, s.agent`,
        100,
      )} as "byAgent"`,
);

interface CostQuery {
  /** Start of the current day, UTC. */
  dayStart: string;
  /** owner/name, case-insensitive; undefined = every repo in scope. */
  slug?: string | undefined;
}

/**
 * Costs of everything in scope, or of one repo, always exact: rollups and open rows are read in one snapshot.
 * Costs a row for each repo, agent, model and day of thirty, and one for each month.
 */
export const costSummary = async (read: Db, scope: OrgScope, { dayStart, slug }: CostQuery): Promise<CostSummary> => {
  const repoKey = slug?.toLowerCase() ?? null;
  const row = await summary.first(read, { tenantId: scope.tenantId, repoIds: scope.repoIds, repoKey, dayStart });
  if (!row) throw new Error('a statement without a condition gave no row');
  return row;
};
