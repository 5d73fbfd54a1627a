import {
  AppError,
  AWAITED_WRITES,
  type ProjectionType,
  type State,
  taskTypeOf,
  type WorkTaskType,
} from '@pipeline/domain';
import {
  clearReviewRemarks,
  commandedAt,
  hastenTrain,
  holdPendingTask,
  type IssueRow,
  isProjectionPending,
  lingeringRun,
  lockIssue,
  lockWorkTask,
  resolveEdgesOf,
  resumePendingTask,
  setPaused,
  setTask,
  updatePullRequest,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext, IssueKey } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { currentHold } from '../costs/holds.ts';
import { projectIssue } from '../outbox/project.ts';
import { recordIssueEvent, recordIssueOperation, recordOperation, recordPipelineEvent } from '../records/records.ts';
import { enqueueWork } from '../tasks/work-tasks.ts';
import { moveBy } from '../workflow/move.ts';

export type IssueAction = 'pause' | 'resume' | 'unblock' | 'retry' | 'cancel' | 'reimplement';

/**
 * A person's actions on an issue, from the monitor or by a comment on the host. Each is one transaction and idempotent.
 * @returns the state of the issue afterwards.
 * @throws AppError ISSUE_NOT_FOUND.
 */
export function actOnIssue(engine: Engine, key: IssueKey, action: IssueAction, actor: Actor): Promise<State> {
  return inTenant(engine, key.tenantId, async (unit) => {
    const issue = await lockIssue(unit.tx, key.tenantId, key.issueId);
    if (!issue) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
    return performAction(unit, await loadIssueContext(unit, issue), action, actor);
  });
}

/** The actor, and the host's time of the action; no time = now, null = unknown. */
type HostActor = Actor & { at?: string | null | undefined };

/** The same inside a transaction that has locked the issue. */
export async function performAction(
  unit: TransactionContext,
  subject: IssueContext,
  action: IssueAction,
  { at, ...actor }: HostActor,
): Promise<State> {
  if (at !== null) unit.send(commandedAt(unit.tx, subject.issue, COMMAND_COLUMN[action], at ?? null));
  const after = subject.issue.state === 'done' ? subject : await ACTIONS[action](unit, subject, actor);
  recordIssueEvent(unit, after, { status: `${action} by ${actor.type}`, details: null, actor: actor });
  const hasMoved = after.issue.state !== subject.issue.state;
  (hasMoved ? recordOperation : recordIssueOperation)(unit, after, actor, { action });
  return after.issue.state as State;
}

/**
 * Pausing and other commands are ordered separately: a late command of one kind does not undo a newer one of the other.
 */
export const COMMAND_COLUMN: Record<IssueAction, 'pause_at' | 'command_at'> = {
  pause: 'pause_at',
  resume: 'pause_at',
  unblock: 'command_at',
  retry: 'command_at',
  cancel: 'command_at',
  reimplement: 'command_at',
};

type Action = (unit: TransactionContext, subject: IssueContext, actor: Actor) => Promise<IssueContext>;
const ACTIONS: Record<IssueAction, Action> = { pause, resume, unblock, retry, cancel, reimplement };

/** No new claim for the issue; a running task may finish, and its outcome is applied. */
async function pause(unit: TransactionContext, subject: IssueContext, actor: Actor): Promise<IssueContext> {
  if (subject.issue.is_paused) return subject;
  await setPaused(unit.tx, unit.tenantId, subject.issue.id, true);
  await holdPendingTask(unit.tx, unit.tenantId, subject.issue.id);
  return flagged(unit, subject, true, actor);
}

/** The task of the state becomes claimable; if the state has a task and the issue has none, one is created. */
async function resume(unit: TransactionContext, subject: IssueContext, actor: Actor): Promise<IssueContext> {
  if (!subject.issue.is_paused) return subject;
  await setPaused(unit.tx, unit.tenantId, subject.issue.id, false);
  const held = await currentHold(unit, { ...subject.issue, is_paused: false });
  await resumePendingTask(unit.tx, unit.tenantId, subject.issue.id, held);
  unit.notify('svc_tasks');
  const taskType = taskTypeOf(subject.workflow, subject.issue.state);
  const { tx, tenantId } = unit;
  if (
    taskType !== null &&
    !(await lockWorkTask(tx, tenantId, subject.issue.id)) &&
    !(await awaitsWrite(unit, subject.issue, subject.issue.state))
  ) {
    await enqueueWork(unit, { ...subject, issue: { ...subject.issue, is_paused: false } }, { taskType });
  }
  return flagged(unit, subject, false, actor);
}

/** Whether the issue needs no task in this state, because a pending host write does what is left or creates the task. */
async function awaitsWrite(unit: TransactionContext, issue: IssueRow, state: string): Promise<boolean> {
  const writes = Object.keys(AWAITED_WRITES) as ProjectionType[];
  const write = writes.find((type) => AWAITED_WRITES[type]?.waitsIn === state);
  return write !== undefined && (await isProjectionPending(unit.tx, issue, write));
}

async function flagged(
  unit: TransactionContext,
  subject: IssueContext,
  isPaused: boolean,
  actor: Actor,
): Promise<IssueContext> {
  const after = { ...subject, issue: { ...subject.issue, is_paused: isPaused } };
  recordPipelineEvent(unit, after, {
    eventType: isPaused ? 'issue_paused' : 'issue_resumed',
    agent: actor.type,
    payload: {
      actorId: actor.id,
    },
  });
  // The next pull request of a merge train goes on at once, or this one again.
  unit.send(hastenTrain(unit.tx, { tenantId: unit.tenantId, repoId: subject.issue.repo_id }));
  unit.notify('svc_projections');
  await projectIssue(unit, after);
  return after;
}

/**
 * Back to the state in which the issue was stopped. Its dependencies are given up, or the engine would stop it again
 * immediately.
 */
async function unblock(unit: TransactionContext, subject: IssueContext, actor: Actor): Promise<IssueContext> {
  const { issue } = subject;
  if (!issue.is_blocked) return subject;
  const child = { repoId: issue.repo_id, number: issue.issue_number };
  await resolveEdgesOf(unit.tx, unit.tenantId, child, 'operator');
  return (await moveBy(unit, subject, { cause: { trigger: 'unblocked' }, actor: actor })).subject;
}

/**
 * Never changes the state: restarts the state's task from attempt 0. In failure-blocked it is the task of the state
 * that failed; the block ends when its outcome is applied. A used-up budget keeps holding it: otherwise anybody who may
 * comment could exceed the limit. Raising the limit releases it immediately.
 */
async function retry(unit: TransactionContext, subject: IssueContext): Promise<IssueContext> {
  const { issue, workflow } = subject;
  const from = issue.state === 'failure-blocked' ? (issue.blocked_from_state ?? issue.state) : issue.state;
  const taskType = taskTypeOf(workflow, from as State);
  if (!taskType) return subject;
  const task = await lockWorkTask(unit.tx, unit.tenantId, issue.id);
  if (!task) {
    if (!(await awaitsWrite(unit, issue, from)))
      await enqueueWork(unit, subject, { taskType: taskType as WorkTaskType });
  } else if (task.status === 'pending') {
    const lingers = (await lingeringRun(unit.tx, unit.tenantId, issue.id)) !== undefined;
    const held = await currentHold(unit, issue);
    // While the worker of a withdrawn task may still be working, the branch is not free.
    await setTask(unit.tx, unit.tenantId, task.id, { attempt: 0, ...(!lingers && { held, run_after: null }) });
    unit.notify('svc_tasks');
  }
  await projectIssue(unit, subject);
  return subject;
}

/** Ends the issue without a result. A running worker is notified at its next heartbeat. */
async function cancel(unit: TransactionContext, subject: IssueContext, actor: Actor): Promise<IssueContext> {
  return (await moveBy(unit, subject, { cause: { trigger: 'cancelled' }, actor: actor })).subject;
}

/**
 * Discards the result and restarts from the plan. Our row of the pull request is closed immediately, so that its later
 * close on the host has no effect.
 */
async function reimplement(unit: TransactionContext, subject: IssueContext, actor: Actor): Promise<IssueContext> {
  await clearReviewRemarks(unit.tx, unit.tenantId, subject.issue.id);
  const moved = await moveBy(unit, subject, { cause: { trigger: 'reimplement' }, actor });
  if (subject.pr) await updatePullRequest(unit.tx, unit.tenantId, subject.pr.id, { state: 'closed' });
  return moved.subject;
}
