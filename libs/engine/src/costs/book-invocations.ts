import { formatSlug, type Invocation, roundUsd } from '@pipeline/domain';
import { type BookedCall, callsOfRun, insertCostEvents, repoById, upsertInvocations } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { HeldClaim } from '../context/issue-context.ts';
import { emit } from '../records/records.ts';
import { reportIssueThresholds, reportSpending } from './budget-thresholds.ts';
import { capCosts, noteDoubts } from './cap-costs.ts';

/**
 * Records the cost of a run's model calls so far. Numbers are cumulative, so only the difference to the recorded values
 * becomes a cost event, and a repeated or late report adds nothing twice; what is reported beyond its caps is noted as a
 * finding. The caller has locked issue and run. Budget
 * thresholds are reported at the end of the transaction.
 * @returns the issue with its new cost.
 */
export async function bookInvocations(
  unit: TransactionContext,
  { run, issue, around }: HeldClaim,
  invocations: readonly Invocation[],
): Promise<HeldClaim['issue']> {
  if (invocations.length === 0) return issue;
  const { tx, tenantId } = unit;
  const [recorded, repo] = around
    ? [around.calls, around.context.repo]
    : await Promise.all([
        callsOfRun(tx, tenantId, run.id),
        run.issue_id === null ? null : repoById(tx, tenantId, run.repo_id),
      ]);
  const distinct = [...new Map(invocations.map((item) => [item.index, item])).values()];
  const { calls: newest, findings } = await capCosts(unit, distinct, recorded);
  if (findings.length > 0) await noteDoubts(unit, { run, issue }, findings);
  for (const item of newest) {
    const before = recorded.get(item.index);
    if (before && hasGrown(item, before)) unit.records.grownCalls.push({ repoId: run.repo_id, at: before.created_at });
  }
  countUnreported(unit, issue, { newest, recorded });
  const grown = newest.flatMap((item) => {
    const before = recorded.get(item.index);
    const usd = Math.max(0, (item.costUsd ?? 0) - (before?.cost_usd ?? 0));
    // A call keeps the name under which it was first recorded.
    return usd > 0 ? [{ index: item.index, model: (before ?? item).model, usd }] : [];
  });
  const owner = { tenantId, repoId: run.repo_id, issueId: run.issue_id, runId: run.id, agent: run.agent };
  await Promise.all([upsertInvocations(tx, tenantId, run.id, newest), insertCostEvents(tx, owner, grown)]);
  if (grown.length === 0) return issue;
  const added = grown.reduce((sum, { usd }) => sum + usd, 0);
  unit.rows.setRun(run.id, { cost_usd: roundUsd(run.cost_usd + added) });
  const after = issue && { ...issue, cost_usd: roundUsd(issue.cost_usd + added) };
  if (after) unit.rows.setIssue(after.id, { cost_usd: after.cost_usd });
  if (after) unit.atEnd(() => reportIssueThresholds(unit, after));
  unit.atEnd(() => reportSpending(unit));
  if (!after || run.issue_id === null || repo === null) return after;
  unit.dirtyIssues.minor.add(run.issue_id);
  emit(unit, 'cost-update', {
    issueNumber: run.issue_number,
    repo: formatSlug(repo),
    costUsd: after.cost_usd,
    agent: run.agent,
  });
  return after;
}

/** Numbers only grow: of two reports the higher value is kept. */
const hasGrown = (item: Invocation, before: BookedCall): boolean =>
  item.inputTokens > before.input_tokens ||
  item.outputTokens > before.output_tokens ||
  item.cacheReadTokens > before.cache_read_tokens ||
  item.cacheWriteTokens > before.cache_write_tokens ||
  item.stopReason !== before.stop_reason ||
  (before.cost_usd === null && item.costUsd !== null);

/** Adds the calls whose cost became or ceased to be unreported to the count of the issue. */
function countUnreported(
  unit: TransactionContext,
  issue: HeldClaim['issue'],
  { newest, recorded }: { newest: readonly Invocation[]; recorded: ReadonlyMap<number, BookedCall> },
): void {
  const before = newest.filter(({ index }) => recorded.get(index)?.cost_usd === null).length;
  const now = newest.filter(
    ({ index, costUsd }) => costUsd === null && (recorded.get(index)?.cost_usd ?? null) === null,
  );
  const more = now.length - before;
  if (more === 0 || !issue) return;
  unit.rows.setIssue(issue.id, { unreported_costs: issue.unreported_costs + more });
  unit.dirtyIssues.minor.add(issue.id);
}
