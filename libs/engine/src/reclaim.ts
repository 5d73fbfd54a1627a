import { AppError, type ErrorClass, type TaskType } from '@pipeline/domain';
import {
  closeRun,
  deleteTask,
  dueHeldTasks,
  expiredClaims,
  lockClaimedTask,
  lockIssue,
  lockRun,
  putBackTask,
  releaseHeldTask,
} from '@pipeline/store';
import { behindClaim, type ClaimRef } from './claim-gate.ts';
import { type Engine, inTenant } from './context.ts';
import { giveUp } from './fail.ts';
import { recordTaskEvent } from './records.ts';
import { ENGINE, subjectOf } from './subject.ts';

const BATCH = 500;
const LOST = { class: 'transient' as ErrorClass, fingerprint: 'worker-lost' };

/**
 * Takes back claims whose lease is over, or that nobody started in time. Candidates are read without a lock; each is
 * checked again under its locks and acted on in a transaction of its own, so any number of processes may run this.
 * @returns how many were taken back.
 */
export async function reclaimExpired(engine: Engine): Promise<number> {
  const candidates = await expiredClaims(engine.store.fleet, engine.settings().claimToStartMs, BATCH);
  let taken = 0;
  for (const { tenant_id, id, run_id, issue_id } of candidates) {
    if (run_id === null) continue;
    const claim = { taskId: id, runId: run_id, issueId: issue_id };
    if (await reclaim(engine, tenant_id, claim, { why: 'the worker fell silent', onlyOverdue: true })) taken += 1;
  }
  return taken;
}

export interface HeldTask {
  taskId: string;
  runId: number;
  issueId: number | null;
}

/**
 * Puts one claimed task back as attempt + 1, or blocks its issue when that was the last attempt.
 * @returns false when the claim is not held any more, or is not overdue where only an overdue one is meant.
 */
export function reclaim(
  engine: Engine,
  tenantId: number,
  claim: HeldTask,
  { why, onlyOverdue }: { why: string; onlyOverdue: boolean },
): Promise<boolean> {
  return inTenant(engine, tenantId, async (unit) => {
    const { tx, settings } = unit;
    const issue = claim.issueId === null ? undefined : await lockIssue(tx, tenantId, claim.issueId);
    const run = await lockRun(tx, tenantId, claim.runId);
    const task = await lockClaimedTask(tx, tenantId, claim, settings.claimToStartMs);
    if (!run || !task || (onlyOverdue && !task.overdue)) return false;
    await closeRun(tx, tenantId, run.id, { status: 'lost', error: { message: why, ...LOST } });
    const fact = {
      taskId: task.id,
      taskType: task.task_type as TaskType,
      attempt: task.attempt,
      workerId: run.worker_id,
      error: why,
    };
    if (issue) await recordTaskEvent(unit, { issue }, 'task_reclaimed', fact);
    if (issue && task.attempt + 1 >= task.max_attempts) {
      await deleteTask(tx, tenantId, task.id);
      const failure = { errorMessage: why, errorClass: LOST.class, taskType: fact.taskType, actor: ENGINE };
      await giveUp(unit, await subjectOf(unit, issue), failure);
      return true;
    }
    await putBackTask(tx, tenantId, task.id, { attempt: task.attempt + 1, paused: issue?.is_paused ?? false });
    unit.ring('svc_tasks');
    return true;
  });
}

/**
 * Gives a claim back that reached nobody: the worker went away before it got the answer. Costs no attempt.
 * @returns false when the claim is not held any more.
 */
export async function returnClaim(engine: Engine, ref: ClaimRef): Promise<boolean> {
  try {
    await behindClaim(engine, ref, async (unit, { run, issue }) => {
      const { tx, tenantId } = unit;
      await closeRun(tx, tenantId, run.id, { status: 'lost' });
      await putBackTask(tx, tenantId, run.task_id, { attempt: run.attempt, paused: issue?.is_paused ?? false });
      unit.ring('svc_tasks');
    });
    return true;
  } catch (error) {
    if (error instanceof AppError && ['CLAIM_LOST', 'TASK_CANCELLED'].includes(error.code)) return false;
    throw error;
  }
}

/** Lets held tasks run whose backoff, quota wait or handover is over. @returns how many became claimable. */
export async function releaseDue(engine: Engine): Promise<number> {
  const due = await dueHeldTasks(engine.store.fleet, BATCH);
  let released = 0;
  for (const { tenant_id, id } of due) {
    if (!(await releaseHeldTask(engine.store.tenant, tenant_id, id))) continue;
    released += 1;
    engine.ring('svc_tasks', tenant_id);
  }
  return released;
}
