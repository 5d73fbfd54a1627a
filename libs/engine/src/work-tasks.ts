import { type Hold, priorityOf, URGENT_LABEL, type WorkTaskType } from '@pipeline/domain';
import { deleteTask, enqueueTasks, lingeringRun, lockWorkTask, updateRun } from '@pipeline/store';
import { v7 as uuidv7 } from 'uuid';
import type { Unit } from './context.ts';
import { recordTaskEvent } from './records.ts';
import type { Subject } from './subject.ts';

/**
 * Gives the issue the task its state asks for, in place of the one it has. A claimed task is withdrawn: its run is
 * closed as cancelled, and its worker learns it at its next word.
 */
export async function replaceWorkTask(unit: Unit, subject: Subject, taskType: WorkTaskType | null): Promise<void> {
  const { tx, tenantId } = unit;
  const task = await lockWorkTask(tx, tenantId, subject.issue.id);
  if (task) await deleteTask(tx, tenantId, task.id);
  if (task?.run_id != null) await updateRun(tx, tenantId, task.run_id, { status: 'cancelled' });
  if (taskType) await enqueueWork(unit, subject, { taskType });
}

interface WorkOrder {
  taskType: WorkTaskType;
  /** A further attempt of the same work. */
  retry?: { workId: string; attempt: number; held: Hold; delayMs: number };
}

/**
 * Adds the work task of an issue; the one-per-issue index refuses a second one. While a worker may still be at a task
 * that was withdrawn, the new one waits, so that two agents never work on one branch.
 */
export async function enqueueWork(unit: Unit, subject: Subject, order: WorkOrder): Promise<void> {
  const { issue } = subject;
  const id = uuidv7();
  const lingering = await lingeringRun(unit.tx, unit.tenantId, issue.id);
  const { held, delayMs } = holdOf(order, issue.is_paused, lingering?.left_ms);
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
      handoverRunId: lingering?.id ?? null,
    },
  ]);
  recordTaskEvent(unit, subject, 'task_enqueued', {
    taskId: id,
    taskType: order.taskType,
    attempt: order.retry?.attempt ?? 0,
  });
  if (held === null) unit.ring('svc_tasks');
}

/** A pause outranks every other hold; the time another hold would have ended is kept for the resume. */
function holdOf(
  order: WorkOrder,
  isPaused: boolean,
  lingersMs: number | undefined,
): { held: Hold | null; delayMs: number | null } {
  const delayMs = lingersMs ?? order.retry?.delayMs ?? null;
  if (isPaused) return { held: 'paused', delayMs };
  if (lingersMs !== undefined) return { held: 'handover', delayMs };
  return { held: order.retry?.held ?? null, delayMs };
}
