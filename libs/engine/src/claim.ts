import { randomUUID } from 'node:crypto';
import { isUsedUp, type TaskPayload, type TaskType } from '@pipeline/domain';
import { type Claimed, claimTasks, claimWithinLimits, lockIssue } from '@pipeline/store';
import { isDayUsedUp } from './budgets.ts';
import { hashToken } from './claim-gate.ts';
import { type Engine, inTenant, type Unit } from './context.ts';
import { snippetsFor } from './intelligence/snippets-for.ts';
import { returnClaim } from './reclaim.ts';
import { payloadOf } from './task-payload.ts';
import { reviewWorker } from './worker-status.ts';
import { requireWorker } from './workers.ts';

export interface ClaimRequest {
  tenantId: number;
  workerId: string;
  /** The token that asks; the worker must be its own. */
  tokenId?: string;
  taskTypes: readonly TaskType[];
  /** Null = all repos of the tenant. */
  repoIds: readonly number[] | null;
}

export interface ClaimedTask {
  id: string;
  taskType: TaskType;
  repo: string;
  issueNumber: number | null;
  priority: number;
  attempt: number;
  maxAttempts: number;
  claimToken: string;
  leaseExpiresAt: string;
  payload: TaskPayload;
  promptVersion: number | null;
  maxTurns: number | null;
  /** What is left of the issue's budget; null = there is none. */
  budgetUsd: number | null;
}

/** Tasks of issues over a limit that was lowered meanwhile are put aside on the way; so many at most. */
const MOST_PUT_ASIDE = 20;

/**
 * Claims the next task for a worker: one statement, no waiting. The fencing token is made here and given out once. A
 * worker that is told to drain while it claims gets nothing: what it claimed goes back, without costing an attempt. So
 * does work whose budget is used up, and while the tenant's day is, nothing is given out.
 * @returns null when there is nothing for it, or when it is to drain.
 * @throws AppError NOT_FOUND for a worker that is not registered, or not by this token.
 */
export async function claim(engine: Engine, request: ClaimRequest): Promise<ClaimedTask | null> {
  const { tenantId } = request;
  const worker = await requireWorker(engine, request);
  if (worker.draining || request.repoIds?.length === 0 || (await isDayUsedUp(engine, tenantId))) return null;
  for (let tries = 0; tries <= MOST_PUT_ASIDE; tries += 1) {
    const taken = await claimOne(engine, request, worker.has_limited_repos);
    if (taken !== 'put aside') return taken;
  }
  return null;
}

async function claimOne(
  engine: Engine,
  request: ClaimRequest,
  isLimited: boolean,
): Promise<ClaimedTask | null | 'put aside'> {
  const { tenantId, workerId } = request;
  const claimToken = randomUUID();
  const claimNext = isLimited ? claimWithinLimits : claimTasks;
  const [claimed] = await claimNext(engine.store.tenant, tenantId, {
    workerId,
    taskTypes: request.taskTypes,
    repoIds: request.repoIds,
    tokenHashes: [hashToken(claimToken)],
    leaseMs: engine.settings().leaseMs,
  });
  if (!claimed) return null;
  const back = () => returnClaim(engine, { tenantId, taskId: claimed.id, claimToken });
  const noted = await inTenant(engine, tenantId, (unit) => noteClaim(unit, claimed, workerId));
  const { worker, costUsd, promptVersion } = noted;
  if (worker?.draining) {
    await back();
    return null;
  }
  const { perIssueUsd } = engine.settings().costLimits;
  if (claimed.issue_id !== null && isUsedUp(costUsd, perIssueUsd)) {
    await back();
    return 'put aside';
  }
  // Outside of the transaction: it may ask an endpoint.
  const snippets = noted.isRepoKnown ? await snippetsFor(engine, tenantId, claimed) : [];
  const payload = { ...noted.payload, snippets };
  return { ...describe(claimed, payload), promptVersion, claimToken, budgetUsd: leftOf(perIssueUsd, costUsd) };
}

/**
 * Shows in the lists who is at the issue, and that the worker is busy; reads what the worker is told. After the claim, so
 * that this stays short: the issue may have moved on since, and then the report is refused, for the claim is withdrawn
 * with the move.
 */
async function noteClaim(unit: Unit, claimed: Claimed, workerId: string) {
  const { issue_id: issueId } = claimed;
  // Locked, or its row in the lists could be written from what a change under way is about to replace.
  const reading = issueId === null ? Promise.resolve(undefined) : lockIssue(unit.tx, unit.tenantId, issueId);
  if (issueId !== null) unit.relisted.changed.add(issueId);
  const [issue, told, worker] = await Promise.all([
    reading,
    payloadOf(unit, claimed, reading),
    reviewWorker(unit, workerId, { alive: true }),
  ]);
  return { ...told, worker, costUsd: issue?.cost_usd ?? 0 };
}

const leftOf = (limitUsd: number | null, spentUsd: number): number | null =>
  limitUsd === null ? null : Math.round((limitUsd - spentUsd) * 1_000_000) / 1_000_000;

type Described = Omit<ClaimedTask, 'claimToken' | 'budgetUsd' | 'promptVersion'>;

function describe(task: Claimed, payload: TaskPayload): Described {
  return {
    id: task.id,
    taskType: task.task_type,
    repo: payload.repo.slug,
    issueNumber: task.issue_number || null,
    priority: task.priority,
    attempt: task.attempt,
    maxAttempts: task.max_attempts,
    leaseExpiresAt: task.lease_expires_at,
    payload,
    maxTurns: null,
  };
}
