import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import { fleetNote } from '../json.ts';
import { costsOfRows } from '../rollups/facts.ts';
import { type AnalyticsScope, waitingFacts, within } from './scope.ts';

/** Where a window of spending begins; null = with the first cent. */
export type Since = Date | null;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Names of the columns of a spending. */
const COLUMNS = sql`
  x.tenant_id, x.repo_id, x.agent, x.model, x.provider, x.usd, x.invocations, x.input_tokens, x.output_tokens,
  x.cache_read_tokens, x.cache_write_tokens, x.max_turns, x.no_progress`;

/**
 * What was spent since then, as rows to be added up: days from their sums, the rest of the first day from those of its
 * hours, the rest of the first hour from the bookings, and what is not folded. `costs` stands before it.
 */
function spentSince(since: Since, scope: AnalyticsScope): RawBuilder<unknown> {
  if (since === null) {
    return sql`
      select ${COLUMNS} from cost_sums x where x.grain = 'month' and ${within('x', scope)}
      union all select ${COLUMNS} from costs x`;
  }
  const at = since.getTime();
  const hour = new Date(Math.ceil(at / HOUR_MS) * HOUR_MS).toISOString();
  const day = new Date(Math.ceil(at / DAY_MS) * DAY_MS).toISOString();
  return sql`
    select ${COLUMNS} from cost_sums x
    where x.grain = 'day' and x.at >= ${day}::timestamptz and ${within('x', scope)}
    union all
    select ${COLUMNS} from cost_sums x
    where x.grain = 'hour' and x.at >= ${hour}::timestamptz and x.at < ${day}::timestamptz and ${within('x', scope)}
    union all
    select ${COLUMNS} from costs x where x.at >= ${hour}::timestamptz
    union all
    select ${COLUMNS} from (${costsOfRows({ from: since.toISOString(), to: hour })}) x where ${within('x', scope)}`;
}

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
  const parts = Object.entries(spans).map(
    ([span, since]) => sql`
      select ${span}::text as span, tenant_id, repo_id, agent, sum(usd) as usd, sum(invocations)::bigint as invocations
      from (${spentSince(since, scope)}) p group by 2, 3, 4`,
  );
  const { rows } = await sql<Spent>`
    ${fleetNote('operators see all tenants')}
    with ${waitingFacts(scope)} ${sql.join(parts, sql` union all `)}`.execute(fleet);
  return rows;
}

export interface ModelSpending {
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

/** What each model has cost since then, the dearest first. */
export async function spentByModel(fleet: Db, scope: AnalyticsScope, since: Since): Promise<ModelSpending[]> {
  const { rows } = await sql<ModelSpending>`
    ${fleetNote('operators see all tenants')}
    with ${waitingFacts(scope)}
    select model, provider, sum(usd) as usd, sum(invocations)::bigint as invocations,
      sum(input_tokens)::bigint as "inputTokens", sum(output_tokens)::bigint as "outputTokens",
      sum(cache_read_tokens)::bigint as "cacheReadTokens", sum(cache_write_tokens)::bigint as "cacheWriteTokens",
      sum(max_turns)::bigint as "maxTurns", sum(no_progress)::bigint as "noProgress"
    from (${spentSince(since, scope)}) p
    group by model, provider having sum(usd) <> 0 or sum(invocations) <> 0
    order by sum(usd) desc, model, provider`.execute(fleet);
  return rows;
}
