import { closingRun, contextsOfClaims, isUnavailable, lockFreeClaims } from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { HeldClaim } from '../context/issue-context.ts';
import { hashToken } from '../context/token-hash.ts';
import { isOwn } from '../presence/own-worker.ts';
import { updateWorkerStatus } from '../presence/worker-status.ts';
import { applyReport, isOutcomeOf, type Report, type ReportAnswer } from './apply-report.ts';
import type { ClaimToken } from './claim-types.ts';
import { bodyHash, storedAnswer, updateWorkersOf } from './end-claim.ts';

export interface ReportRequest {
  token: ClaimToken;
  body: Report;
}

type Result = PromiseSettledResult<ReportAnswer | null>;

/**
 * Applies concurrent reports of one tenant in one transaction: one statement locks their claims, one reads what their
 * decisions depend on, one writes the changes of each report; records, list rows, workers and spending have one
 * statement for all. A report that needs more gets null and changes nothing, and the caller applies it alone: its claim
 * is no longer valid, or locked by another transaction; its task cannot have this outcome; its issue has another report
 * in the batch; it adds dependencies, for which it would lock those of the tenant. If the transaction of several reports
 * fails, all get null, so that the report that fails it affects no other; while the store is unavailable, all fail.
 * @returns the result of each, in order.
 */
export async function reportBatch(engine: Engine, requests: readonly ReportRequest[]): Promise<Result[]> {
  const tenantId = requests[0]?.token.tenantId ?? 0;
  try {
    const answers = await inTenant(engine, tenantId, (unit) => applyReports(unit, requests));
    return requests.map((request) => ({ status: 'fulfilled', value: answers.get(request) ?? null }));
  } catch (reason) {
    const isFinal = requests.length === 1 || isUnavailable(reason);
    return requests.map(() => (isFinal ? { status: 'rejected', reason } : { status: 'fulfilled', value: null }));
  }
}

/** @returns the answers of the reports that it applied, and of those that were applied before. */
async function applyReports(
  unit: TransactionContext,
  requests: readonly ReportRequest[],
): Promise<Map<ReportRequest, ReportAnswer>> {
  const { claims, isPartial } = await lockClaims(unit, requests);
  const answers = new Map<ReportRequest, ReportAnswer>();
  const ended: HeldClaim[] = [];
  const isEnded = ({ run, issue }: HeldClaim) =>
    ended.some((one) => one.run.id === run.id || (issue && one.issue?.id === issue.id));
  for (const request of requests) {
    const { token, body } = request;
    const claim = claims.get(hashToken(token.claimToken));
    if (claim?.run.task_id !== token.taskId || !isOwn({ token_id: claim.tokenId ?? null }, token.tokenId)) continue;
    const hash = bodyHash(body);
    const before = storedAnswer<ReportAnswer>(claim.run, hash);
    if (before) answers.set(request, before);
    else if (canShare(claim, body) && !isEnded(claim)) {
      ended.push(claim);
      answers.set(request, await applyOne(unit, claim, { body, hash }));
    }
  }
  const going = [...claims.values()].filter((claim) => claim.run.alive && !ended.includes(claim));
  if (!isPartial) await updateWorkersOf(unit, ended, going);
  else {
    // A worker may go on to hold a claim that was left out: what it holds is read again, after the changes.
    const workerIds = new Set(ended.map(({ run }) => run.worker_id));
    for (const id of workerIds) await updateWorkerStatus(unit, id, { alive: true });
  }
  return answers;
}

const canShare = ({ run }: HeldClaim, body: Report): boolean =>
  run.alive && isOutcomeOf(run, body) && body.outcome !== 'depends';

async function applyOne(
  unit: TransactionContext,
  claim: HeldClaim,
  { body, hash }: { body: Report; hash: string },
): Promise<ReportAnswer> {
  const answer = await applyReport(unit, claim, body);
  const end = { status: 'finished', outcome: body.outcome, report: { hash, answer } } as const;
  unit.rows.setRun(claim.run.id, closingRun(end));
  return answer;
}

/** Locks the claims that are free, and reads their contexts. @returns them by the hash of their token, and whether any was left out. */
async function lockClaims(
  { tx, tenantId }: TransactionContext,
  requests: readonly ReportRequest[],
): Promise<{ claims: Map<string, HeldClaim>; isPartial: boolean }> {
  const hashes = requests.map(({ token }) => hashToken(token.claimToken));
  const [locked, contexts] = await Promise.all([
    lockFreeClaims(tx, tenantId, hashes),
    contextsOfClaims(tx, tenantId, hashes),
  ]);
  const claims = new Map(
    locked.map((claim): [string, HeldClaim] => {
      const around = contexts.get(claim.run.id);
      return [claim.run.claim_token_hash, { ...claim, ...(around && { around }) }];
    }),
  );
  return { claims, isPartial: contexts.size > claims.size };
}
