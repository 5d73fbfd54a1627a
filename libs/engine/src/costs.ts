import { formatSlug, type Invocation } from '@pipeline/domain';
import { addCost, costsOfRun, insertCostEvents, type RunRow, repoById, upsertInvocations } from '@pipeline/store';
import type { Unit } from './context.ts';
import { emit } from './records.ts';

/**
 * Books what a run's model calls have cost so far. Numbers are cumulative, so only the difference to what was booked
 * becomes a cost event, and a report that comes twice, or late, costs nothing twice. The caller has locked the run.
 */
export async function bookInvocations(unit: Unit, run: RunRow, invocations: readonly Invocation[]): Promise<void> {
  if (invocations.length === 0) return;
  const { tx, tenantId } = unit;
  const newest = [...new Map(invocations.map((item) => [item.index, item])).values()];
  const booked = await costsOfRun(tx, tenantId, run.id);
  await upsertInvocations(tx, tenantId, run.id, newest);
  const grown = newest
    .map((item) => ({ item, usd: item.costUsd - (booked.get(item.index) ?? 0) }))
    .filter(({ usd }) => usd > 0);
  if (grown.length === 0) return;
  await insertCostEvents(
    tx,
    grown.map(({ item, usd }) => ({
      tenant_id: tenantId,
      repo_id: run.repo_id,
      issue_id: run.issue_id,
      run_id: run.id,
      invocation_index: item.index,
      agent: run.agent,
      model: item.model,
      amount_usd: usd,
    })),
  );
  const added = grown.reduce((sum, { usd }) => sum + usd, 0);
  const total = await addCost(tx, tenantId, { runId: run.id, issueId: run.issue_id }, added);
  if (total === null || run.issue_id === null) return;
  unit.relisted.passing.add(run.issue_id);
  const repo = await repoById(tx, tenantId, run.repo_id);
  emit(unit, 'cost-update', {
    issueNumber: run.issue_number,
    repo: formatSlug(repo),
    costUsd: total,
    agent: run.agent,
  });
}
