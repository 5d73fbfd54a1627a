import { type Hold, priorityOf, type SideTaskType, URGENT_LABEL } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { cancelRun, deleteTask, enqueueTasks, type IssueRow, lockRetrospect, resumePendingTask } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { IssueContext } from '../context/issue-context.ts';
import { currentHold } from '../costs/holds.ts';
import { recordTaskEvent } from '../records/records.ts';

interface SideOrder {
  taskType: SideTaskType;
  repoId: number;
  /** Issue as locked; null for a task on a whole repo. */
  issue: IssueRow | null;
  /** A further attempt of the same task. */
  retry?: { workId: string; attempt: number; held: Hold; delayMs: number };
}

/** Adds a side task. The store refuses a second live one for the same issue, or repo. */
export async function enqueueSide(
  unit: TransactionContext,
  { taskType, repoId, issue, retry }: SideOrder,
): Promise<void> {
  const id = timeOrderedId();
  const held = (await currentHold(unit, issue ?? undefined)) ?? retry?.held ?? null;
  const attempt = retry?.attempt ?? 0;
  await enqueueTasks(unit.tx, unit.tenantId, [
    {
      id,
      workId: retry?.workId ?? id,
      repoId,
      issueId: issue?.id ?? null,
      issueNumber: issue?.issue_number ?? 0,
      taskType,
      priority: priorityOf(taskType, issue?.labels.includes(URGENT_LABEL)),
      attempt,
      maxAttempts: unit.settings.maxAttempts,
      held,
      runAfterMs: retry?.delayMs ?? null,
      handoverRunId: null,
    },
  ]);
  const about = { issue: issue ?? { id: null, repo_id: repoId, issue_number: null } };
  recordTaskEvent(unit, about, 'task_enqueued', { taskId: id, taskType, attempt });
  if (held === null) unit.notify('svc_tasks');
}

/**
 * Enqueues the retrospective of a done issue if it had work, merged or not. One that ended before it had a plan or a
 * pull request has none. A waiting retrospective of an earlier end stays, because its payload is built at the claim; a
 * running one has an outdated payload, so it is replaced by a new one.
 */
export async function enqueueRetrospect(
  unit: TransactionContext,
  { issue, pr, ending }: IssueContext,
  how: { merged: boolean; wasPaused: boolean },
): Promise<void> {
  const { tx, tenantId } = unit;
  if (how.wasPaused) {
    await resumePendingTask(tx, tenantId, issue.id, await currentHold(unit, issue));
    unit.notify('svc_tasks');
  }
  if (!how.merged && issue.plan === null && !pr) return;
  const before = ending.hasRetrospect ? await lockRetrospect(tx, tenantId, issue.id) : undefined;
  if (before?.status === 'pending') return;
  if (before) {
    await deleteTask(tx, tenantId, before.id);
    if (before.run_id !== null) await cancelRun(tx, tenantId, before.run_id);
  }
  await enqueueSide(unit, { taskType: 'retrospect', repoId: issue.repo_id, issue });
}
