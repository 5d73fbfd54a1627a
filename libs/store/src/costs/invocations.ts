import type { Invocation } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../driver/database.ts';
import { exactTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

interface OfRun {
  tenantId: number;
  runId: number;
}

/** The recorded values of a model call. */
export interface BookedCall {
  model: string;
  provider: string;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** Null = unreported. */
  cost_usd: number | null;
  stop_reason: Invocation['stopReason'];
  created_at: string;
}

type CallOfRun = BookedCall & { invocation_index: number };

/** The recorded model calls of a run, as values that keep their form in JSON. */
export const callsOf = (runId: RawBuilder<unknown>, tenantId: RawBuilder<unknown>): RawBuilder<CallOfRun> => sql`
  select invocation_index, model, provider, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
    cost_usd, stop_reason, ${exactTime('created_at')} as created_at
  from agent_invocations where tenant_id = ${tenantId} and run_id = ${runId}`;

const recordedCalls = prepared('calls-of-run', (_db, p: Params<OfRun>) => callsOf(p('runId'), p('tenantId')));

/** Recorded values of each model call of a run, by index. The caller has locked the run. */
export const callsOfRun = async (tx: Tx, tenantId: number, runId: number): Promise<Map<number, BookedCall>> =>
  byIndex(await recordedCalls.all(tx, { tenantId, runId }));

export const byIndex = (calls: readonly CallOfRun[]): Map<number, BookedCall> =>
  new Map(calls.map(({ invocation_index, ...call }) => [invocation_index, call]));

/** The higher value; a null is ignored beside a number. */
const greatest = (column: string) =>
  sql`${sql.ref(column)} = greatest(agent_invocations.${sql.ref(column)}, excluded.${sql.ref(column)})`;

const upsert = prepared(
  'upsert-invocations',
  (_db, p: Params<OfRun & { items: string }>) => sql`
    insert into agent_invocations (tenant_id, run_id, invocation_index, model, provider, agent, input_tokens,
      output_tokens, cache_read_tokens, cache_write_tokens, turns, cost_usd, stop_reason)
    select ${p('tenantId')}, ${p('runId')}, i."index", i.model, i.provider, i.agent, i."inputTokens", i."outputTokens",
      i."cacheReadTokens", i."cacheWriteTokens", i.turns, i."costUsd", i."stopReason"
    from jsonb_to_recordset(${p('items')}::jsonb) as i ("index" integer, model text, provider text, agent text,
      "inputTokens" bigint, "outputTokens" bigint, "cacheReadTokens" bigint, "cacheWriteTokens" bigint, turns integer,
      "costUsd" numeric, "stopReason" text)
    on conflict (tenant_id, run_id, invocation_index) do update set
      ${sql.join(['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'turns', 'cost_usd'].map(greatest))},
      stop_reason = excluded.stop_reason`,
);

/**
 * Writes the newest report of a run on its model calls. Numbers only grow: of two reports the higher value is kept, and a
 * known cost replaces an unreported one, which is null.
 */
export async function upsertInvocations(
  tx: Tx,
  tenantId: number,
  runId: number,
  items: readonly Invocation[],
): Promise<void> {
  if (items.length === 0) return;
  await upsert.run(tx, { tenantId, runId, items: JSON.stringify(items) });
}

interface CostEventInput {
  index: number;
  model: string;
  usd: number;
}

const insertEvents = prepared(
  'insert-cost-events',
  (_db, p: Params<OfRun & { repoId: number; issueId: number | null; agent: string; events: string }>) => sql`
    insert into cost_events (tenant_id, repo_id, issue_id, run_id, agent, invocation_index, model, amount_usd)
    select ${p('tenantId')}, ${p('repoId')}, ${p('issueId')}, ${p('runId')}, ${p('agent')}, e."index", e.model, e.usd
    from jsonb_to_recordset(${p('events')}::jsonb) as e ("index" integer, model text, usd numeric)`,
);

/** Records amounts that calls of a run cost more than was recorded. */
export async function insertCostEvents(
  tx: Tx,
  of: OfRun & { repoId: number; issueId: number | null; agent: string },
  events: readonly CostEventInput[],
): Promise<void> {
  const { tenantId, runId, repoId, issueId, agent } = of;
  if (events.length === 0) return;
  await insertEvents.run(tx, { tenantId, runId, repoId, issueId, agent, events: JSON.stringify(events) });
}
