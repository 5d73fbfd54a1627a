import { sql } from 'kysely';
import type { Of } from '../analytics/rollups/facts.ts';
import { type AnalyticsScope, waitingFacts, within } from '../analytics/scope.ts';
import { spentBySpan, spentSince } from '../analytics/spent-since.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

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
    with ${waitingFacts(scope)} ${spentBySpan(starts, ofScope(scope))}`.execute(fleet);
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
}

/** Cost per model since then, highest first. */
export async function spentByModel(fleet: Db, scope: AnalyticsScope, since: Since): Promise<ModelSpending[]> {
  const { rows } = await sql<ModelSpending>`
    ${fleetNote('operators see all tenants')}
    with ${waitingFacts(scope)}
    select model, provider, sum(usd) as usd, sum(invocations)::bigint as invocations,
      sum(input_tokens) as "inputTokens", sum(output_tokens) as "outputTokens",
      sum(cache_read_tokens) as "cacheReadTokens", sum(cache_write_tokens) as "cacheWriteTokens",
      sum(max_turns)::bigint as "maxTurns", sum(no_progress)::bigint as "noProgress"
    from (${spentSince(startOf(since), ofScope(scope))}) p
    group by model, provider having sum(usd) <> 0 or sum(invocations) <> 0
    order by sum(usd) desc, model, provider`.execute(fleet);
  return rows;
}
