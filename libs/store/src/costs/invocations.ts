import type { Invocation } from '@pipeline/domain';
import { type Insertable, sql } from 'kysely';
import type { DB } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { BookedCall } from '../records/records.ts';

interface OfRun {
  tenantId: number;
  runId: number;
}

const recordedCalls = prepared('calls-of-run', (db, p: Params<OfRun>) =>
  db
    .selectFrom('agent_invocations')
    .select(['invocation_index', 'model', 'provider', 'cost_usd', 'stop_reason', 'created_at'])
    .select(['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'])
    .where('tenant_id', '=', p('tenantId'))
    .where('run_id', '=', p('runId')),
);

/** Recorded values of each model call of a run, by index. The caller has locked the run. */
export async function callsOfRun(tx: Tx, tenantId: number, runId: number): Promise<Map<number, BookedCall>> {
  const rows = await recordedCalls.all(tx, { tenantId, runId });
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
        agent: item.agent ?? null,
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

const addToRun = prepared('add-run-cost', (db, p: Params<OfRun & { usd: number }>) =>
  db
    .updateTable('runs')
    .set({ cost_usd: sql`cost_usd + ${p('usd')}` })
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('runId')),
);

const addToIssue = prepared('add-issue-cost', (db, p: Params<{ tenantId: number; issueId: number; usd: number }>) =>
  db
    .updateTable('issues')
    .set({ cost_usd: sql`cost_usd + ${p('usd')}` })
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('issueId'))
    .returning('cost_usd'),
);

/**
 * Adds to the running totals of a run and of its issue, in one round trip. The caller has locked both.
 * @returns the issue's new total in USD, null without an issue.
 */
export async function addCost(
  tx: Tx,
  tenantId: number,
  { runId, issueId }: { runId: number; issueId: number | null },
  usd: number,
): Promise<number | null> {
  const [, row] = await Promise.all([
    addToRun.run(tx, { tenantId, runId, usd }),
    issueId === null ? undefined : addToIssue.first(tx, { tenantId, issueId, usd }),
  ]);
  return row?.cost_usd ?? null;
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
