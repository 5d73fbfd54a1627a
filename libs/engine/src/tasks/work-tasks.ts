import { comparedAgentOf, type Hold, priorityOf, URGENT_LABEL, type WorkTaskType } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { cancelRun, deleteTask, enqueueTasks, lingeringRun, lockWorkTask } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { CurrentWork, IssueContext, WorkTask } from '../context/issue-context.ts';
import { currentHold } from '../costs/holds.ts';
import { recordTaskEvent } from '../records/records.ts';

export async function lockCurrentWork({ tx, tenantId }: TransactionContext, issueId: number): Promise<CurrentWork> {
  const [task, lingering] = await Promise.all([
    lockWorkTask(tx, tenantId, issueId),
    lingeringRun(tx, tenantId, issueId),
  ]);
  return { task, lingering };
}

/**
 * Replaces the task of an issue by the one its state requires. A claimed task is withdrawn: its run is closed as
 * cancelled, and its worker is notified at its next request. @returns the new task.
 */
export async function replaceWorkTask(
  unit: TransactionContext,
  subject: IssueContext,
  taskType: WorkTaskType | null,
  { task, lingering }: CurrentWork,
): Promise<WorkTask | null> {
  const { tx, tenantId } = unit;
  if (task) await deleteTask(tx, tenantId, task.id);
  if (task?.run_id == null) return taskType && enqueueWork(unit, subject, { taskType, lingering });
  await cancelRun(tx, tenantId, task.run_id);
  claimEnded(unit, subject);
  // The closed run is the one whose worker may still be working.
  return taskType && enqueueWork(unit, subject, { taskType });
}

/** A claim may wait for the one that ended: in a limited repo the next one can begin. */
export function claimEnded(unit: TransactionContext, { repo }: Pick<IssueContext, 'repo'>): void {
  if (repo.pool_size !== null) unit.notify('svc_tasks');
}

interface WorkOrder {
  taskType: WorkTaskType;
  /** A further attempt of the same task, by the same agent. */
  retry?: { workId: string; attempt: number; held: Hold; delayMs: number; comparedAgent: string };
  /** Read when it is not given. */
  lingering?: CurrentWork['lingering'];
}

/**
 * Adds the work task of an issue; the one-per-issue index refuses a second one. While a worker may still be working on
 * a withdrawn task, the new one is held, so that two agents never work on one branch. The issue's row is current.
 */
export async function enqueueWork(
  unit: TransactionContext,
  subject: IssueContext,
  order: WorkOrder,
): Promise<WorkTask> {
  const { issue, repo } = subject;
  const id = timeOrderedId();
  const lingering = 'lingering' in order ? order.lingering : await lingeringRun(unit.tx, unit.tenantId, issue.id);
  const current = await currentHold(unit, issue);
  const { held, delayMs } = holdOf(order, current, lingering?.left_ms);
  const task = { attempt: order.retry?.attempt ?? 0, max_attempts: unit.settings.maxAttempts, held };
  const compared = { repoId: issue.repo_id, issueNumber: issue.issue_number, taskType: order.taskType };
  const row = {
    id,
    workId: order.retry?.workId ?? id,
    repoId: issue.repo_id,
    issueId: issue.id,
    issueNumber: issue.issue_number,
    taskType: order.taskType,
    priority: priorityOf(order.taskType, issue.labels.includes(URGENT_LABEL)),
    attempt: task.attempt,
    maxAttempts: task.max_attempts,
    held,
    runAfterMs: delayMs,
    handoverRunId: lingering?.id ?? null,
    comparedAgent: order.retry?.comparedAgent ?? comparedAgentOf(repo.compare, compared),
  };
  await enqueueTasks(unit.tx, unit.tenantId, [row]);
  recordTaskEvent(unit, subject, 'task_enqueued', {
    taskId: id,
    taskType: order.taskType,
    attempt: task.attempt,
  });
  if (held === null) unit.notify('svc_tasks');
  return task;
}

/**
 * A pause takes precedence over every other hold, a worker that may still be working over a budget; the end of another
 * hold is kept.
 */
function holdOf(
  order: WorkOrder,
  current: 'paused' | 'budget' | null,
  lingersMs: number | undefined,
): { held: Hold | null; delayMs: number | null } {
  const delayMs = lingersMs ?? order.retry?.delayMs ?? null;
  if (current === 'paused') return { held: 'paused', delayMs };
  if (lingersMs !== undefined) return { held: 'handover', delayMs };
  if (current !== null) return { held: current, delayMs };
  return { held: order.retry?.held ?? null, delayMs };
}
