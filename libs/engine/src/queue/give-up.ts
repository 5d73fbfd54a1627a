import { AGENT_OF, type BlockReason, blockReasonOf, DAY_MS, type ErrorClass, type TaskType } from '@pipeline/domain';
import { type IssueRow, type RunRow, retryScanIn } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext } from '../context/issue-context.ts';
import { recordIssueEvent, recordPipelineEvent, subjectOfRun } from '../records/records.ts';
import { moveBy } from '../workflow/move.ts';

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

interface FinalFailure {
  errorMessage: string;
  errorClass: ErrorClass;
  taskType: TaskType;
  actor: Actor;
  /** Set when a wait for a quota was given up; milliseconds until the next try. */
  quotaMs?: number;
}

/** No attempt is left: stops the issue with a reason. Also used for a lost worker on the last attempt. */
export async function giveUp(unit: TransactionContext, subject: IssueContext, failure: FinalFailure): Promise<void> {
  const { taskType, actor, errorClass, quotaMs } = failure;
  const blockReason: BlockReason =
    quotaMs === undefined ? blockReasonOf({ message: failure.errorMessage, taskType, errorClass }) : 'quota_exceeded';
  await moveBy(unit, subject, {
    cause: { trigger: 'exhausted', blockReason },
    actor: actor,
    stop: {
      blockClassification: errorClass,
      lastError: failure.errorMessage,
      ...(quotaMs !== undefined && { quotaMs }),
    },
  });
}
