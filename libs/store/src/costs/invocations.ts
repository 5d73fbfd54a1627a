import type { Invocation } from '@pipeline/domain';
import { type Insertable, sql } from 'kysely';
import type { DB } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import type { BookedCall } from '../records/records.ts';

/** Recorded values of each model call of a run, by index. The caller has locked the run. */
export async function callsOfRun(tx: Tx, tenantId: number, runId: number): Promise<Map<number, BookedCall>> {
  const rows = await tx
    .selectFrom('agent_invocations')
    .select(['invocation_index', 'model', 'provider', 'cost_usd', 'stop_reason', 'created_at'])
    .select(['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'])
    .where('tenant_id', '=', tenantId)
    .where('run_id', '=', runId)
    .execute();
  return new Map(rows.map(({ invocation_index, ...call }) => [invocation_index, call]));
}

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
  await tx
    .insertInto('agent_invocations')
    .values(
      items.map((item) => ({
        tenant_id: tenantId,
        run_id: runId,
        invocation_index: item.index,
        model: item.model,
        provider: item.provider,
        input_tokens: item.inputTokens,
        output_tokens: item.outputTokens,
        cache_read_tokens: item.cacheReadTokens,
        cache_write_tokens: item.cacheWriteTokens,
        turns: item.turns,
        cost_usd: item.costUsd,
        stop_reason: item.stopReason,
      })),
    )
    .onConflict((c) =>
      c.columns(['tenant_id', 'run_id', 'invocation_index']).doUpdateSet({
        input_tokens: greatest('input_tokens'),
        output_tokens: greatest('output_tokens'),
        cache_read_tokens: greatest('cache_read_tokens'),
        cache_write_tokens: greatest('cache_write_tokens'),
        turns: greatest('turns'),
        cost_usd: greatest('cost_usd'),
        stop_reason: (eb) => eb.ref('excluded.stop_reason'),
      }),
    )
    .execute();
}

/** The higher value; a null is ignored beside a number. */
const greatest = (column: string) =>
  sql<number>`greatest(agent_invocations.${sql.ref(column)}, excluded.${sql.ref(column)})`;

export async function insertCostEvents(tx: Tx, rows: Insertable<DB['cost_events']>[]): Promise<void> {
  if (rows.length > 0) await tx.insertInto('cost_events').values(rows).execute();
}

/** Adds to the running totals of a run and of its issue; returns the issue's new total in USD, null without an issue. */
export async function addCost(
  tx: Tx,
  tenantId: number,
  of: { runId: number; issueId: number | null },
  usd: number,
): Promise<number | null> {
  await tx
    .updateTable('runs')
    .set((eb) => ({ cost_usd: eb('cost_usd', '+', usd) }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', of.runId)
    .execute();
  if (of.issueId === null) return null;
  const row = await tx
    .updateTable('issues')
    .set((eb) => ({ cost_usd: eb('cost_usd', '+', usd) }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', of.issueId)
    .returning('cost_usd')
    .executeTakeFirstOrThrow();
  return row.cost_usd;
}

/** Adds to the number of an issue's model calls whose cost is unreported. The caller has locked the issue. */
export async function addUnreportedCosts(tx: Tx, tenantId: number, issueId: number, more: number): Promise<void> {
  await tx
    .updateTable('issues')
    .set((eb) => ({ unreported_costs: eb('unreported_costs', '+', more) }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', issueId)
    .execute();
}
