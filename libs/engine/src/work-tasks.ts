import { type Hold, priorityOf, URGENT_LABEL, type WorkTaskType } from '@pipeline/domain';
import { deleteTask, enqueueTasks, lockWorkTask, type TaskRow, updateRun } from '@pipeline/store';
import { v7 as uuidv7 } from 'uuid';
import type { Unit } from './context.ts';
import { recordTaskEvent } from './records.ts';
import type { Subject } from './subject.ts';

/** A task taken out of a worker's hands; its successor waits until the worker knows or its lease is over. */
interface Withdrawn {
  runId: number;
  leaseLeftMs: number;
}

/**
 * Gives the issue the task its state asks for, in place of the one it has. A claimed task is withdrawn: its run is
 * closed as cancelled and the next task is born held until two agents can no longer work on one branch
 * (decisions.md 17).
 */
export async function replaceWorkTask(unit: Unit, subject: Subject, taskType: WorkTaskType | null): Promise<void> {
  const withdrawn = await withdrawWorkTask(unit, subject);
  if (taskType) await enqueueWork(unit, subject, { taskType, withdrawn });
}

export async function withdrawWorkTask(unit: Unit, subject: Subject): Promise<Withdrawn | null> {
  const task = await lockWorkTask(unit.tx, unit.tenantId, subject.issue.id);
  if (!task) return null;
  await deleteTask(unit.tx, unit.tenantId, task.id);
  if (task.status !== 'claimed' || task.run_id === null) return null;
  await updateRun(unit.tx, unit.tenantId, task.run_id, { status: 'cancelled' });
  return { runId: task.run_id, leaseLeftMs: leaseLeft(task, unit) };
}

/** The lease's full length at most: what is left of it is known exactly only to the store's clock. */
const leaseLeft = (task: TaskRow, unit: Unit): number => (task.lease_expires_at === null ? 0 : unit.settings.leaseMs);

interface WorkOrder {
  taskType: WorkTaskType;
  withdrawn?: Withdrawn | null;
  /** A further attempt of the same work. */
  retry?: { workId: string; attempt: number; held: Hold; delayMs: number };
}

/** Adds the work task of an issue. The one-per-issue index refuses a second one. */
export async function enqueueWork(unit: Unit, subject: Subject, order: WorkOrder): Promise<void> {
  const { issue } = subject;
  const id = uuidv7();
  const { held, delayMs } = holdOf(order, issue.is_paused);
  await enqueueTasks(unit.tx, unit.tenantId, [
    {
      id,
      workId: order.retry?.workId ?? id,
      repoId: issue.repo_id,
      issueId: issue.id,
      issueNumber: issue.issue_number,
      taskType: order.taskType,
      priority: priorityOf(order.taskType, issue.labels.includes(URGENT_LABEL)),
      attempt: order.retry?.attempt ?? 0,
      maxAttempts: unit.settings.maxAttempts,
      held,
      runAfterMs: delayMs,
      handoverRunId: order.withdrawn?.runId ?? null,
    },
  ]);
  await recordTaskEvent(unit, subject, 'task_enqueued', {
    taskId: id,
    taskType: order.taskType,
    attempt: order.retry?.attempt ?? 0,
  });
  if (held === null) unit.ring('svc_tasks');
}

/** A pause outranks every other hold; the time another hold would have ended is kept for the resume. */
function holdOf(order: WorkOrder, isPaused: boolean): { held: Hold | null; delayMs: number | null } {
  const delayMs = order.withdrawn?.leaseLeftMs ?? order.retry?.delayMs ?? null;
  if (isPaused) return { held: 'paused', delayMs };
  if (order.withdrawn) return { held: 'handover', delayMs };
  return { held: order.retry?.held ?? null, delayMs };
}
