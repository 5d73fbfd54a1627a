import {
  AGENT_OF,
  type BlockReason,
  blockReasonOf,
  classifyError,
  type ErrorClass,
  fingerprint,
  type Invocation,
  isSideTask,
  MAX_REQUESTED_WAIT_MS,
  quotaWait,
  retryDelayMs,
  type SideTaskType,
  type TaskType,
  type WorkTaskType,
} from '@pipeline/domain';
import { closeRun, countSameFailures, deleteTask, type RunRow, taskById, updateIssue } from '@pipeline/store';
import type { Engine, TransactionContext } from '../context/context.ts';
import { type Actor, type HeldClaim, type IssueContext, issueContextOf } from '../context/issue-context.ts';
import { bookInvocations } from '../costs/book-invocations.ts';
import { projectIssue } from '../outbox/project.ts';
import { reviewWorker } from '../presence/worker-status.ts';
import { recordTaskEvent } from '../records/records.ts';
import { enqueueSide, giveUpSide, subjectOfRun } from '../tasks/side-tasks.ts';
import { claimEnded, enqueueWork } from '../tasks/work-tasks.ts';
import { moveBy } from '../workflow/move.ts';
import { behindClaim, type ClaimRef } from './claim-gate.ts';
import { givenBefore, hashReport } from './report.ts';

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
export function fail(engine: Engine, ref: ClaimRef, failure: Failure): Promise<FailAnswer> {
  const hash = hashReport(failure);
  return behindClaim(
    engine,
    ref,
    async (unit, claim) => {
      const issue = await bookInvocations(unit, claim, failure.invocations);
      const error = await classify(unit, claim.run, failure);
      const requeued = await settleFailure(unit, { ...claim, issue }, { ...failure, ...error });
      const answer: FailAnswer = { ok: true, requeued, attempt: claim.run.attempt };
      const why = { message: failure.errorMessage, class: error.errorClass, fingerprint: error.fingerprint };
      const end = { status: 'failed' as const, error: why, report: { hash, answer } };
      unit.send(closeRun(unit.tx, unit.tenantId, claim.run.id, end));
      await reviewWorker(unit, claim.run.worker_id, { alive: true });
      return answer;
    },
    { invocations: failure.invocations, repeated: (run) => givenBefore<FailAnswer>(run, hash) },
  );
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
  unit.send(deleteTask(unit.tx, unit.tenantId, run.task_id));
  if (!issue && !isSideTask(taskType)) return false;
  recordTaskEvent(unit, subjectOfRun(run, issue), 'task_failed', {
    taskId: run.task_id,
    taskType,
    attempt: run.attempt,
    workerId: run.worker_id,
    error: failure.errorMessage,
  });
  const quotaWaitedMs = issue && !isSideTask(taskType) ? issue.quota_waited_ms : 0;
  const maxAttempts = task?.max_attempts ?? unit.settings.maxAttempts;
  const next = afterFailure(unit, run, { ...failure, quotaWaitedMs }, maxAttempts);
  if (isSideTask(taskType)) return againOrNever(unit, { run, issue }, taskType, { next, error: failure.errorMessage });
  if (!issue) return false;
  const subject = await issueContextOf(unit, issue);
  claimEnded(unit, subject);
  if (next.kind === 'retry') {
    await tryAgain(unit, subject, { ...next, workId: run.work_id }, { ...failure, taskType });
    return true;
  }
  const actor: Actor = { type: 'agent', id: run.worker_id, agent: AGENT_OF[taskType] };
  const { quotaMs } = next;
  await giveUp(unit, subject, { ...failure, taskType, actor, ...(quotaMs !== undefined && { quotaMs }) });
  return false;
}

type AfterFailure =
  | { kind: 'retry'; attempt: number; held: 'quota' | 'backoff'; delayMs: number }
  /** `quotaMs`: it waited too long for a quota; after this time it is tried once more. */
  | { kind: 'give-up'; quotaMs?: number };

async function againOrNever(
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

function afterFailure(
  unit: TransactionContext,
  run: RunRow,
  { errorClass, retryAfterMs, quotaWaitedMs }: Failure & Classified & { quotaWaitedMs: number },
  maxAttempts: number,
): AfterFailure {
  if (errorClass === 'quota') {
    const wait = quotaWait(quotaWaitedMs, retryAfterMs ?? unit.settings.quotaBackoffMs);
    if ('blockMs' in wait) return { kind: 'give-up', quotaMs: wait.blockMs };
    return { kind: 'retry', attempt: run.attempt, held: 'quota', delayMs: wait.waitMs };
  }
  const attempt = run.attempt + 1;
  if (errorClass === 'permanent' || attempt >= maxAttempts) return { kind: 'give-up' };
  const asked = retryAfterMs === undefined ? null : Math.min(retryAfterMs, MAX_REQUESTED_WAIT_MS);
  return { kind: 'retry', attempt, held: 'backoff', delayMs: asked ?? retryDelayMs(run.attempt, unit.random()) };
}

/** Enqueues the next attempt of a task. People see which attempt it is, and its hold. */
async function tryAgain(
  unit: TransactionContext,
  subject: IssueContext,
  { held, attempt, delayMs, workId }: Extract<AfterFailure, { kind: 'retry' }> & { workId: string },
  { taskType, errorMessage }: { taskType: WorkTaskType; errorMessage: string },
): Promise<void> {
  const { issue } = subject;
  const waited = issue.quota_waited_ms + (held === 'quota' ? delayMs : 0);
  const change = { last_error: errorMessage, quota_waited_ms: waited };
  unit.send(updateIssue(unit.tx, unit.tenantId, issue.id, change));
  const retry = { workId, attempt, held, delayMs };
  const task = await enqueueWork(unit, subject, { taskType, retry });
  await projectIssue(unit, { ...subject, issue: { ...issue, ...change } }, [], task);
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
