import {
  type CostCap,
  callCostUsd,
  costCap,
  type FindingInput,
  type Invocation,
  mostCallUsd,
  priceOf,
} from '@pipeline/domain';
import { modelPrices, recordFindings } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { HeldClaim } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';

/** A call whose reported usage is not counted as it was reported. */
interface Doubt {
  call: Invocation;
  cap: CostCap | null;
}

/** A run that has cost less than this is not compared with the price table, whose statement it would cost. */
const SMALL_USD = 1;

/** Returns whether the price table decides about calls of a run that has cost `spent`: no other ones cost a statement. */
const needPrices = (calls: readonly Invocation[], spent: number): boolean =>
  calls.some(({ costUsd }) => costUsd === null) || spent + sum(calls.map(({ costUsd }) => costUsd)) > SMALL_USD;

const sum = (usd: Iterable<number | null>): number => [...usd].reduce<number>((total, each) => total + (each ?? 0), 0);

/**
 * The calls of a run with the cost that counts: the reported one, at most the most that its tokens cost, and at most the
 * budget of the issue for the whole run; else the one computed from the price table; null = unreported.
 * @param recorded the calls of the run so far.
 * @returns them, and a finding for each model whose usage was replaced.
 */
export async function capCosts(
  { tx, settings }: TransactionContext,
  calls: readonly Invocation[],
  recorded: ReadonlyMap<number, { cost_usd: number | null }>,
): Promise<{ calls: Invocation[]; findings: FindingInput[] }> {
  const { perIssueUsd } = settings.costLimits;
  let spent = sum([...recorded.values()].map(({ cost_usd }) => cost_usd));
  const prices = needPrices(calls, spent) ? await modelPrices(tx) : null;
  const doubts: Doubt[] = [];
  const counted = calls.map((call) => {
    const price = prices && priceOf(prices, call.model);
    const before = recorded.get(call.index)?.cost_usd ?? 0;
    const leftUsd = perIssueUsd === null ? null : perIssueUsd - spent + before;
    const mostUsd = prices && mostCallUsd(price, call);
    const reported = call.costUsd ?? callCostUsd(price, call);
    const cap = reported === null ? null : costCap(reported, { mostUsd, leftUsd });
    if (cap || call.isClamped) doubts.push({ call, cap });
    const costUsd = cap ? cap.usd : reported;
    spent += Math.max(0, (costUsd ?? 0) - before);
    return { ...call, costUsd };
  });
  const ofModels = new Map(doubts.map((doubt) => [doubt.call.model, doubt]));
  return { calls: counted, findings: [...ofModels.values()].map(findingOf) };
}

/** Records the findings about the usage that a run reported; nothing is learnt from them for later tasks. */
export async function noteDoubts(
  unit: TransactionContext,
  { run, issue }: Pick<HeldClaim, 'run' | 'issue'>,
  findings: readonly FindingInput[],
): Promise<void> {
  const { id: runId, repo_id: repoId, issue_id: issueId, agent } = run;
  const owner = { runId, repoId, issueId, prId: null, prNumber: null, agent };
  const subject = { issue: issue ?? { repo_id: repoId, issue_number: null, id: null } };
  for (const { id, what } of await recordFindings(unit.tx, unit.tenantId, owner, findings)) {
    if (what === 'repeated') continue;
    recordPipelineEvent(unit, subject, { eventType: 'finding_opened', agent, payload: { findingId: id } });
  }
}

const WHY: Record<CostCap['by'], string> = {
  price: 'is the most that its tokens cost',
  budget: 'is left of the budget of the issue',
};

function findingOf({ call, cap }: Doubt): FindingInput {
  const { model, costUsd, isClamped } = call;
  const summary = cap
    ? `A worker reported a cost of ${costUsd ?? 'unknown'} USD; ${cap.usd} USD are counted, which ${WHY[cap.by]}.`
    : 'A worker reported figures outside of their limits; the nearest valid ones are counted.';
  return {
    findingType: 'cost_anomaly',
    category: 'usage',
    severity: 'medium',
    confidence: 1,
    title: `Usage of the model ${model} was reported wrongly`,
    summary,
    recommendation: 'Check the worker and the table of model prices.',
    evidence: [],
    metadata: { reportedUsd: costUsd, countedUsd: cap?.usd ?? costUsd, isClamped: isClamped === true },
    blocksProgress: false,
  };
}
