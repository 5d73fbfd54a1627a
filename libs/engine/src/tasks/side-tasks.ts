import {
  AGENT_OF,
  DAY_MS,
  type Hold,
  priorityOf,
  type SideTaskType,
  type TaskType,
  URGENT_LABEL,
} from '@pipeline/domain';
import { enqueueTasks, type IssueRow, type RunRow, retryScanIn } from '@pipeline/store';
import { v7 as uuidv7 } from 'uuid';
import type { TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { standingHold } from '../costs/budgets.ts';
import { type EventSubject, recordIssueEvent, recordPipelineEvent, recordTaskEvent } from '../records/records.ts';

interface SideOrder {
  taskType: SideTaskType;
  repoId: number;
  /** As locked; null for a task on a whole repo. */
  issue: IssueRow | null;
  /** A further attempt of the same task. */
  retry?: { workId: string; attempt: number; held: Hold; delayMs: number };
}

/** The subject of a run's events: its issue, or its repo. */
export const subjectOfRun = (run: RunRow, issue: IssueRow | undefined): EventSubject => ({
  issue: issue ?? { id: null, repo_id: run.repo_id, issue_number: null },
});

/** Adds a side task. The store refuses a second live one for the same issue, or repo. */
export async function enqueueSide(
  unit: TransactionContext,
  { taskType, repoId, issue, retry }: SideOrder,
): Promise<void> {
  const id = uuidv7();
  const held = (await standingHold(unit, issue ?? undefined)) ?? retry?.held ?? null;
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

const NEXT_SCAN_MS = DAY_MS;

/**
 * No attempt is left. The pipeline does not depend on side tasks: it is dropped, and its issue stays unchanged. A
 * repo's next scan is due a day later.
 */
export async function giveUpSide(
  unit: TransactionContext,
  { run, issue }: { run: RunRow; issue: IssueRow | undefined },
  error: string,
): Promise<void> {
  const taskType = run.task_type as TaskType;
  const agent = AGENT_OF[taskType];
  recordPipelineEvent(unit, subjectOfRun(run, issue), {
    eventType: 'task_given_up',
    agent,
    payload: { taskId: run.task_id, taskType, attempt: run.attempt, workerId: run.worker_id, error },
  });
  if (taskType === 'code-map-scan') {
    await retryScanIn(unit.tx, { tenantId: unit.tenantId, repoId: run.repo_id }, NEXT_SCAN_MS);
  }
  if (!issue) return;
  const actor: Actor = { type: 'agent', id: run.worker_id, agent };
  recordIssueEvent(unit, { issue }, { status: `${taskType} given up`, details: { error }, actor });
}
