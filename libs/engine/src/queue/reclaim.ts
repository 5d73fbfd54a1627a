import { attemptAfterLoss, type ErrorClass, isSideTask, MINUTE_MS, type TaskType } from '@pipeline/domain';
import {
  claimsOfWorker,
  closingRun,
  deleteTask,
  dueHeldTasks,
  expiredClaims,
  type IssueRow,
  type LockedClaim,
  lockClaimedTask,
  lockIssue,
  lockRun,
  putBackTask,
  releaseHeldTask,
  stalledClaims,
  type TaskRef,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { countHandled } from '../context/handle-each.ts';
import { ENGINE, type HeldClaim } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { currentHold } from '../costs/holds.ts';
import { recordStall, updateWorkerStatus } from '../presence/worker-status.ts';
import { recordTaskEvent, subjectOfRun } from '../records/records.ts';
import { giveUp, giveUpSide } from './give-up.ts';

const BATCH = 500;

/**
 * Reclaims tasks whose lease has expired, or that were not started in time. Candidates are read without a lock; each is
 * checked again under its locks and handled in its own transaction, so any number of processes may run this.
 * @returns how many were reclaimed.
 */
export async function reclaimExpired(engine: Engine): Promise<number> {
  const candidates = await expiredClaims(engine.store.db, engine.settings().claimToStartMs, BATCH);
  return reclaimEach(engine, candidates, { why: 'the worker fell silent', when: (task) => task.overdue });
}

/**
 * Reclaims tasks of workers that are present but make no progress: no progress, record or start for the stall limit.
 * The worker counts as stalled until it has released the task.
 * @returns how many were reclaimed.
 */
export async function reclaimStalled(engine: Engine): Promise<number> {
  const { stallMs } = engine.settings();
  const candidates = await stalledClaims(engine.store.db, stallMs, BATCH);
  return reclaimEach(engine, candidates, {
    why: `the agent made no progress for ${Math.round(stallMs / MINUTE_MS)} minutes`,
    when: (task) => task.stalled_since !== null,
    errorClass: 'unknown',
  });
}

const reclaimEach = (engine: Engine, candidates: readonly TaskRef[], how: ReclaimRule): Promise<number> =>
  countHandled('claims to take back', candidates, async ({ tenant_id, id, run_id, issue_id }) => {
    if (run_id === null) return false;
    return reclaim(engine, tenant_id, { taskId: id, runId: run_id, issueId: issue_id }, how);
  });

export interface HeldTask {
  taskId: string;
  runId: number;
  issueId: number | null;
}

interface ReclaimRule {
  /** Recorded in the timeline, and shown to people if it was the last attempt. */
  why: string;
  /** Decides about the claim under its lock. */
  when: (task: LockedClaim) => boolean;
  /** The error class if it was the last attempt; default transient. */
  errorClass?: ErrorClass;
  /** Repeats the last attempt instead of blocking the issue, for a person's request. */
  again?: boolean;
}

/**
 * Returns one claimed task to the queue as attempt + 1, or blocks its issue after the last attempt.
 * @returns false when the claim is no longer valid, or does not meet the condition.
 */
const reclaim = (engine: Engine, tenantId: number, claim: HeldTask, how: ReclaimRule): Promise<boolean> =>
  inTenant(engine, tenantId, async (unit) => (await reclaimLocked(unit, claim, how)) !== null);

/** The same inside a transaction that holds no lock yet. @returns the task as it was, or null. */
export async function reclaimLocked(
  unit: TransactionContext,
  claim: HeldTask,
  how: ReclaimRule,
): Promise<LockedClaim | null> {
  const { tx, tenantId } = unit;
  const { why } = how;
  const issue = claim.issueId === null ? undefined : await lockIssue(tx, tenantId, claim.issueId);
  const run = await lockRun(tx, tenantId, claim.runId);
  const task = await lockClaimedTask(tx, tenantId, claim, unit.settings);
  if (!run || !task || !how.when(task)) return null;
  if (issue) unit.dirtyIssues.changed.add(issue.id);
  const errorClass = how.errorClass ?? 'transient';
  const fingerprint = task.stalled_since === null ? 'worker-lost' : 'no-progress';
  unit.rows.setRun(run.id, closingRun({ status: 'lost', error: { message: why, class: errorClass, fingerprint } }));
  const taskType = task.task_type as TaskType;
  const fact = { taskId: task.id, taskType, attempt: task.attempt, workerId: run.worker_id, error: why };
  if (issue || isSideTask(taskType)) recordTaskEvent(unit, subjectOfRun(run, issue), 'task_reclaimed', fact);
  await requeueOrGiveUp(unit, { run, issue, task }, { ...how, errorClass });
  await updateWorkerStatus(unit, run.worker_id, { alive: false });
  if (task.stalled_since !== null) await recordStall(unit, run.worker_id, task.stalled_since);
  return task;
}

async function requeueOrGiveUp(
  unit: TransactionContext,
  { run, issue, task }: HeldClaim & { task: LockedClaim },
  { why, errorClass, again = false }: ReclaimRule & { errorClass: ErrorClass },
): Promise<void> {
  const taskType = task.task_type;
  const attempt = attemptAfterLoss({ attempt: task.attempt, maxAttempts: task.max_attempts }, again);
  if (attempt === null && isSideTask(taskType)) {
    await deleteTask(unit.tx, unit.tenantId, task.id);
    unit.notify('svc_tasks');
    return giveUpSide(unit, { run, issue }, why);
  }
  if (attempt === null && issue) {
    await deleteTask(unit.tx, unit.tenantId, task.id);
    return giveUp(unit, await loadIssueContext(unit, issue), {
      errorMessage: why,
      errorClass,
      taskType,
      actor: ENGINE,
    });
  }
  await requeue(unit, issue, { task, attempt: attempt ?? task.attempt + 1, why });
}

async function requeue(
  unit: TransactionContext,
  issue: IssueRow | undefined,
  { task, attempt, why }: { task: LockedClaim; attempt: number; why: string },
): Promise<void> {
  const { tx, tenantId } = unit;
  if (issue && !isSideTask(task.task_type)) unit.rows.setIssue(issue.id, { last_error: why });
  await putBackTask(tx, tenantId, task.id, { attempt, held: await currentHold(unit, issue) });
  unit.notify('svc_tasks');
}

/** Releases held tasks whose backoff, quota wait or handover is over. @returns how many became claimable. */
export async function releaseDue(engine: Engine): Promise<number> {
  const due = await dueHeldTasks(engine.store.db, BATCH);
  const { perIssueUsd } = engine.settings().costLimits;
  return countHandled('held tasks to release', due, async ({ tenant_id, id }) => {
    if (!(await releaseHeldTask(engine.store.db, tenant_id, id, perIssueUsd))) return false;
    engine.notify('svc_tasks', tenant_id);
    return true;
  });
}

/** Takes back every claim that a worker holds, each in a transaction of its own. */
export async function reclaimAllOf(engine: Engine, tenantId: number, workerId: string, why: string): Promise<void> {
  for (const { id, run_id, issue_id } of await claimsOfWorker(engine.store.db, tenantId, workerId)) {
    if (run_id === null) continue;
    await reclaim(engine, tenantId, { taskId: id, runId: run_id, issueId: issue_id }, { why, when: () => true });
  }
}
