import {
  AGENT_OF,
  blockReasonOf,
  classifyError,
  type ErrorClass,
  fingerprint,
  type Invocation,
  retryDelayMs,
  type TaskType,
  type WorkTaskType,
} from '@pipeline/domain';
import { closeRun, countSameFailures, deleteTask, type RunRow, taskById } from '@pipeline/store';
import { behindClaim, type ClaimRef, type HeldClaim } from './claim-gate.ts';
import type { Engine, Unit } from './context.ts';
import { bookInvocations } from './costs.ts';
import { moveBy } from './move.ts';
import { recordTaskEvent } from './records.ts';
import { givenBefore, hashReport } from './report.ts';
import { type Actor, type Subject, subjectOf } from './subject.ts';
import { enqueueWork } from './work-tasks.ts';
import { reviewWorker } from './worker-status.ts';

export interface Failure {
  errorMessage: string;
  errorClass: ErrorClass;
  /** Milliseconds the worker asks to wait, for example until a quota returns. */
  retryAfterMs?: number | undefined;
  invocations: Invocation[];
}

export interface FailAnswer {
  ok: true;
  requeued: boolean;
  attempt: number;
}

/**
 * Takes the failure of a task: tried again after a backoff while attempts are left, else the issue is blocked with the
 * classified reason. A quota costs no attempt; a permanent error spends all of them.
 * @throws AppError CLAIM_LOST or TASK_CANCELLED.
 */
export function fail(engine: Engine, ref: ClaimRef, failure: Failure): Promise<FailAnswer> {
  const hash = hashReport(failure);
  return behindClaim(
    engine,
    ref,
    async (unit, claim) => {
      await bookInvocations(unit, claim.run, failure.invocations);
      const error = await classify(unit, claim.run, failure);
      const requeued = await settleFailure(unit, claim, { ...failure, ...error });
      const answer: FailAnswer = { ok: true, requeued, attempt: claim.run.attempt };
      await closeRun(unit.tx, unit.tenantId, claim.run.id, {
        status: 'failed',
        error: { message: failure.errorMessage, class: error.errorClass, fingerprint: error.fingerprint },
        report: { hash, answer },
      });
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

async function classify(unit: Unit, run: RunRow, failure: Failure): Promise<Classified> {
  const print = fingerprint(failure.errorMessage);
  const before = run.issue_id === null ? 0 : await countSameFailures(unit.tx, unit.tenantId, run.issue_id, print);
  const errorClass = classifyError({
    message: failure.errorMessage,
    reported: failure.errorClass,
    sameFingerprintCount: before + 1,
  });
  return { errorClass, fingerprint: print };
}

/** @returns whether the work will be tried again. */
async function settleFailure(unit: Unit, { run, issue }: HeldClaim, failure: Failure & Classified): Promise<boolean> {
  const taskType = run.task_type as TaskType;
  const task = await taskById(unit.tx, unit.tenantId, run.task_id);
  await deleteTask(unit.tx, unit.tenantId, run.task_id);
  if (!issue) return false;
  const subject = await subjectOf(unit, issue);
  recordTaskEvent(unit, subject, 'task_failed', {
    taskId: run.task_id,
    taskType,
    attempt: run.attempt,
    workerId: run.worker_id,
    error: failure.errorMessage,
  });
  const retry = retryOf(unit, run, failure, task?.max_attempts ?? unit.settings.maxAttempts);
  if (retry) {
    await enqueueWork(unit, subject, { taskType: taskType as WorkTaskType, retry: { workId: run.work_id, ...retry } });
    return true;
  }
  const actor: Actor = { type: 'agent', id: run.worker_id, agent: AGENT_OF[taskType] };
  await giveUp(unit, subject, { ...failure, taskType, actor });
  return false;
}

function retryOf(unit: Unit, run: RunRow, failure: Failure & Classified, maxAttempts: number) {
  if (failure.errorClass === 'quota') {
    const delayMs = failure.retryAfterMs ?? unit.settings.quotaBackoffMs;
    return { attempt: run.attempt, held: 'quota' as const, delayMs };
  }
  const attempt = run.attempt + 1;
  if (failure.errorClass === 'permanent' || attempt >= maxAttempts) return null;
  const delayMs = failure.retryAfterMs ?? retryDelayMs(run.attempt, unit.random());
  return { attempt, held: 'backoff' as const, delayMs };
}

interface FinalFailure {
  errorMessage: string;
  errorClass: ErrorClass;
  taskType: TaskType;
  actor: Actor;
}

/** No attempt is left: the issue stops and says why. Also what a lost worker on the last attempt ends in. */
export async function giveUp(unit: Unit, subject: Subject, failure: FinalFailure): Promise<void> {
  const { taskType, actor } = failure;
  const blockReason = blockReasonOf({ message: failure.errorMessage, taskType, errorClass: failure.errorClass });
  await moveBy(unit, subject, {
    cause: { trigger: 'exhausted', blockReason },
    actor: actor,
    stop: {
      blockClassification: failure.errorClass,
      lastError: failure.errorMessage,
    },
  });
}
