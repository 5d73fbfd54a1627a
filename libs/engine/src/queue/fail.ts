import {
  type AfterFailure,
  AGENT_OF,
  afterFailure,
  classifyError,
  type ErrorClass,
  fingerprint,
  type Invocation,
  isSideTask,
  type SideTaskType,
  type TaskType,
  type WorkTaskType,
} from '@pipeline/domain';
import { countSameFailures, deleteTask, type RunRow, taskById } from '@pipeline/store';
import type { Engine, TransactionContext } from '../context/context.ts';
import type { Actor, HeldClaim, IssueContext } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { bookInvocations } from '../costs/book-invocations.ts';
import { projectIssue } from '../outbox/project.ts';
import { recordTaskEvent, subjectOfRun } from '../records/records.ts';
import { enqueueSide } from '../tasks/side-tasks.ts';
import { claimEnded, enqueueWork } from '../tasks/work-tasks.ts';
import type { ClaimToken } from './claim-types.ts';
import { endClaim } from './end-claim.ts';
import { giveUp, giveUpSide } from './give-up.ts';

export interface Failure {
  errorMessage: string;
  errorClass: ErrorClass;
  /** Milliseconds the worker wants to wait, for example until a quota returns; at most six hours are granted. */
  retryAfterMs?: number | undefined;
  invocations: Invocation[];
}

export interface FailAnswer {
  ok: true;
  requeued: boolean;
  attempt: number;
}

/**
 * Handles the failure of a task: retries it after a backoff while attempts are left, else blocks the issue with the
 * classified reason. A quota uses no attempt, but a task waits for it at most a day; a permanent error uses all
 * attempts.
 * @throws AppError CLAIM_LOST or TASK_CANCELLED.
 */
export function fail(engine: Engine, token: ClaimToken, failure: Failure): Promise<FailAnswer> {
  return endClaim(engine, token, failure, async (unit, claim) => {
    const issue = await bookInvocations(unit, claim, failure.invocations);
    const error = await classify(unit, claim.run, failure);
    const requeued = await settleFailure(unit, { ...claim, issue }, { ...failure, ...error });
    const answer: FailAnswer = { ok: true, requeued, attempt: claim.run.attempt };
    const why = { message: failure.errorMessage, class: error.errorClass, fingerprint: error.fingerprint };
    return { answer, end: { status: 'failed', error: why } };
  });
}

interface Classified {
  errorClass: ErrorClass;
  fingerprint: string;
}

async function classify(unit: TransactionContext, run: RunRow, failure: Failure): Promise<Classified> {
  const print = fingerprint(failure.errorMessage);
  // Side tasks have their own attempts; their failures do not count for the issue.
  const counted = run.issue_id !== null && !isSideTask(run.task_type);
  const before =
    !counted || run.issue_id === null ? 0 : await countSameFailures(unit.tx, unit.tenantId, run.issue_id, print);
  const errorClass = classifyError({
    message: failure.errorMessage,
    reported: failure.errorClass,
    sameFingerprintCount: before + 1,
  });
  return { errorClass, fingerprint: print };
}

/** @returns whether the task will be retried. */
async function settleFailure(
  unit: TransactionContext,
  { run, issue }: HeldClaim,
  failure: Failure & Classified,
): Promise<boolean> {
  const taskType = run.task_type as TaskType;
  const task = await taskById(unit.tx, unit.tenantId, run.task_id);
  await deleteTask(unit.tx, unit.tenantId, run.task_id);
  if (!issue && !isSideTask(taskType)) return false;
  recordTaskEvent(unit, subjectOfRun(run, issue), 'task_failed', {
    taskId: run.task_id,
    taskType,
    attempt: run.attempt,
    workerId: run.worker_id,
    error: failure.errorMessage,
  });
  const next = afterFailure({
    ...failure,
    attempt: run.attempt,
    maxAttempts: task?.max_attempts ?? unit.settings.maxAttempts,
    quotaWaitedMs: issue && !isSideTask(taskType) ? issue.quota_waited_ms : 0,
    quotaBackoffMs: unit.settings.quotaBackoffMs,
    random: unit.random(),
  });
  if (isSideTask(taskType))
    return retryOrGiveUpSide(unit, { run, issue }, taskType, { next, error: failure.errorMessage });
  if (!issue) return false;
  const subject = await loadIssueContext(unit, issue);
  claimEnded(unit, subject);
  if (next.kind === 'retry') {
    const retry = { ...next, workId: run.work_id, comparedAgent: run.compared_agent };
    await retryWork(unit, subject, retry, { ...failure, taskType });
    return true;
  }
  const actor: Actor = { type: 'agent', id: run.worker_id, agent: AGENT_OF[taskType] };
  const { quotaMs } = next;
  await giveUp(unit, subject, { ...failure, taskType, actor, ...(quotaMs !== undefined && { quotaMs }) });
  return false;
}

async function retryOrGiveUpSide(
  unit: TransactionContext,
  { run, issue }: HeldClaim,
  taskType: SideTaskType,
  { next, error }: { next: AfterFailure; error: string },
): Promise<boolean> {
  unit.notify('svc_tasks');
  if (next.kind === 'give-up') {
    await giveUpSide(unit, { run, issue }, error);
    return false;
  }
  const { attempt, held, delayMs } = next;
  const retry = { workId: run.work_id, attempt, held, delayMs };
  await enqueueSide(unit, { taskType, repoId: run.repo_id, issue: issue ?? null, retry });
  return true;
}

type RetriedWork = Extract<AfterFailure, { kind: 'retry' }> & { workId: string; comparedAgent: string };

/** Enqueues the next attempt of a task. People see which attempt it is, and its hold. */
async function retryWork(
  unit: TransactionContext,
  subject: IssueContext,
  { held, attempt, delayMs, workId, comparedAgent }: RetriedWork,
  { taskType, errorMessage }: { taskType: WorkTaskType; errorMessage: string },
): Promise<void> {
  const { issue } = subject;
  const waited = issue.quota_waited_ms + (held === 'quota' ? delayMs : 0);
  const change = { last_error: errorMessage, quota_waited_ms: waited };
  unit.rows.setIssue(issue.id, change);
  const retry = { workId, attempt, held, delayMs, comparedAgent };
  const task = await enqueueWork(unit, subject, { taskType, retry });
  await projectIssue(unit, { ...subject, issue: { ...issue, ...change } }, [], task);
}
