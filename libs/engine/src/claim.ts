import { randomUUID } from 'node:crypto';
import type { TaskPayload, TaskType } from '@pipeline/domain';
import { type Claimed, claimTasks, lockIssue, type WorkerRow } from '@pipeline/store';
import { hashToken } from './claim-gate.ts';
import { type Engine, inTenant, type Unit } from './context.ts';
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
  budgetUsd: number | null;
}

/**
 * Claims the next task for a worker: one statement, no waiting. The fencing token is made here and given out once. A
 * worker that is told to drain while it claims gets nothing: what it claimed goes back, without costing an attempt.
 * @returns null when there is nothing for it, or when it is to drain.
 * @throws AppError NOT_FOUND for a worker that is not registered, or not by this token.
 */
export async function claim(engine: Engine, request: ClaimRequest): Promise<ClaimedTask | null> {
  const { tenantId, workerId } = request;
  const worker = await requireWorker(engine, request);
  if (worker.draining || request.repoIds?.length === 0) return null;
  const claimToken = randomUUID();
  const [claimed] = await claimTasks(engine.store.tenant, tenantId, {
    workerId,
    taskTypes: request.taskTypes,
    repoIds: request.repoIds,
    tokenHashes: [hashToken(claimToken)],
    leaseMs: engine.settings().leaseMs,
  });
  if (!claimed) return null;
  const now = await inTenant(engine, tenantId, (unit) => noteClaim(unit, claimed, workerId));
  if (now?.draining) {
    await returnClaim(engine, { tenantId, taskId: claimed.id, claimToken });
    return null;
  }
  return describe(engine, tenantId, claimed, claimToken);
}

/** Shows in the lists who is at the issue, and that the worker is busy. */
async function noteClaim(unit: Unit, { issue_id }: Claimed, workerId: string): Promise<WorkerRow | undefined> {
  // Locked, or the row could be written from what a change under way is about to replace.
  const issue = issue_id === null ? undefined : await lockIssue(unit.tx, unit.tenantId, issue_id);
  if (issue) unit.relisted.changed.add(issue.id);
  return reviewWorker(unit, workerId, { alive: true });
}

async function describe(engine: Engine, tenantId: number, task: Claimed, claimToken: string): Promise<ClaimedTask> {
  const payload = await payloadOf(engine, tenantId, task);
  return {
    id: task.id,
    taskType: task.task_type,
    repo: payload.repo.slug,
    issueNumber: task.issue_number || null,
    priority: task.priority,
    attempt: task.attempt,
    maxAttempts: task.max_attempts,
    claimToken,
    leaseExpiresAt: task.lease_expires_at,
    payload,
    promptVersion: null,
    maxTurns: null,
    budgetUsd: engine.settings().costLimits.perIssueUsd,
  };
}
