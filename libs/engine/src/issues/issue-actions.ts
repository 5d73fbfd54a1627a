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
  closePullRequest,
  commandedAt,
  hastenTrain,
  holdPendingTask,
  type IssueRow,
  isProjectionPending,
  pausing,
  resolveEdgesOf,
  restartPendingTask,
  resumePendingTask,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, CurrentWork, IssueContext, IssueKey, OnIssue, WorkTask } from '../context/issue-context.ts';
import { openIssue } from '../context/load-issue.ts';
import { currentHold } from '../costs/holds.ts';
import { projectIssue } from '../outbox/project.ts';
import { recordIssueEvent, recordIssueOperation, recordOperation, recordPipelineEvent } from '../records/records.ts';
import { enqueueWork, lockCurrentWork } from '../tasks/work-tasks.ts';
import { moveBy } from '../workflow/move.ts';
import { restartRounds } from '../workflow/rounds.ts';

export type IssueAction = 'pause' | 'resume' | 'unblock' | 'retry' | 'cancel' | 'reimplement';

/**
 * A person's actions on an issue, from the monitor or by a comment on the host. Each is one transaction and idempotent.
 * @returns the state of the issue afterwards.
 * @throws AppError ISSUE_NOT_FOUND.
 */
export function actOnIssue(engine: Engine, key: IssueKey, action: IssueAction, actor: Actor): Promise<State> {
  return inTenant(engine, key.tenantId, async (unit) => {
    const open = await openIssue(unit, key.issueId);
    if (!open) throw new AppError('ISSUE_NOT_FOUND', 'Issue not found');
    return performOn(unit, open, action, actor);
  });
}

/** The actor, and the host's time of the action; no time = now, null = unknown. */
type HostActor = Actor & { at?: string | null | undefined };

/** The same inside a transaction that has locked the issue. */
export const performAction = async (
  unit: TransactionContext,
  subject: IssueContext,
  action: IssueAction,
  actor: HostActor,
): Promise<State> => performOn(unit, { subject, work: await lockCurrentWork(unit, subject.issue.id) }, action, actor);

/** The same inside a transaction that has locked the issue and its task. */
export async function performOn(
  unit: TransactionContext,
  { subject, work }: OnIssue,
  action: IssueAction,
  { at, ...actor }: HostActor,
): Promise<State> {
  if (at !== null) await commandedAt(unit.tx, subject.issue, COMMAND_COLUMN[action], at ?? null);
  const after = subject.issue.state === 'done' ? subject : await ACTIONS[action](unit, { subject, work }, actor);
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

type Action = (unit: TransactionContext, open: OnIssue, actor: Actor) => Promise<IssueContext>;
const ACTIONS: Record<IssueAction, Action> = { pause, resume, unblock, retry, cancel, reimplement };

/** No new claim for the issue; a running task may finish, and its outcome is applied. */
async function pause(unit: TransactionContext, { subject, work }: OnIssue, actor: Actor): Promise<IssueContext> {
  if (subject.issue.is_paused) return subject;
  const { tx, tenantId } = unit;
  unit.rows.setIssue(subject.issue.id, pausing(true));
  await holdPendingTask(tx, tenantId, subject.issue.id);
  const task = work.task?.status === 'pending' ? { ...work.task, held: 'paused' as const } : work.task;
  return flagged(unit, { ...subject, issue: { ...subject.issue, is_paused: true } }, task ?? null, actor);
}

/** The task of the state becomes claimable; if the state has a task and the issue has none, one is created. */
async function resume(unit: TransactionContext, { subject, work }: OnIssue, actor: Actor): Promise<IssueContext> {
  if (!subject.issue.is_paused) return subject;
  const { tx, tenantId } = unit;
  const resumed = { ...subject, issue: { ...subject.issue, is_paused: false } };
  unit.rows.setIssue(subject.issue.id, pausing(false));
  const held = await currentHold(unit, resumed.issue);
  await resumePendingTask(tx, tenantId, subject.issue.id, held);
  unit.notify('svc_tasks');
  return flagged(unit, resumed, await taskAfterResume(unit, resumed, { work, held }), actor);
}

/** The task that waits no longer for the pause, or a new one where the state has a task and the issue has none. */
async function taskAfterResume(
  unit: TransactionContext,
  subject: IssueContext,
  { work: { task, lingering }, held }: { work: CurrentWork; held: WorkTask['held'] },
): Promise<WorkTask | null> {
  const { issue, workflow } = subject;
  if (task) {
    const isHeld = task.status === 'pending' && task.held === 'paused';
    const inBackoff = task.run_after !== null && Date.parse(task.run_after) > Date.parse(issue.now);
    return isHeld ? { ...task, held: held ?? (inBackoff ? 'backoff' : null) } : task;
  }
  const taskType = taskTypeOf(workflow, issue.state);
  if (taskType === null || (await awaitsWrite(unit, issue, issue.state))) return null;
  return enqueueWork(unit, subject, { taskType, lingering });
}

/**
 * Returns whether the issue needs no task in this state, because a pending host write does what is left or creates the
 * task.
 */
async function awaitsWrite(unit: TransactionContext, issue: IssueRow, state: string): Promise<boolean> {
  const writes = Object.keys(AWAITED_WRITES) as ProjectionType[];
  const write = writes.find((type) => AWAITED_WRITES[type]?.waitsIn === state);
  return write !== undefined && (await isProjectionPending(unit.tx, issue, write));
}

async function flagged(
  unit: TransactionContext,
  after: IssueContext,
  task: WorkTask | null,
  actor: Actor,
): Promise<IssueContext> {
  recordPipelineEvent(unit, after, {
    eventType: after.issue.is_paused ? 'issue_paused' : 'issue_resumed',
    agent: actor.type,
    payload: {
      actorId: actor.id,
    },
  });
  // The next merge of the repo goes on at once, or this one again, which may wait for the end of the pause.
  if (after.pr) {
    await hastenTrain(unit.tx, { tenantId: unit.tenantId, repoId: after.issue.repo_id });
    unit.notify('svc_projections');
  }
  await projectIssue(unit, after, [], task);
  return after;
}

/**
 * Back to the state in which the issue was stopped. Its dependencies are given up, or the engine would stop it again
 * immediately.
 */
async function unblock(unit: TransactionContext, { subject, work }: OnIssue, actor: Actor): Promise<IssueContext> {
  const { issue } = subject;
  if (!issue.is_blocked) return subject;
  const child = { repoId: issue.repo_id, number: issue.issue_number };
  await resolveEdgesOf(unit.tx, unit.tenantId, child, 'operator');
  return (await moveBy(unit, subject, { cause: { trigger: 'unblocked' }, actor, work })).subject;
}

/**
 * Never changes the state: restarts the state's task from attempt 0. In failure-blocked it is the task of the state
 * that failed; the block ends when its outcome is applied. A used-up budget keeps holding it: otherwise every person
 * who may comment could exceed the limit. Raising the limit releases it immediately. The restarted task replaces the
 * automatic lift of the block, which would cancel it; if it fails too, its failure sets a new one.
 */
async function retry(unit: TransactionContext, { subject: given, work }: OnIssue): Promise<IssueContext> {
  const subject = restartRounds(unit, given);
  const { issue, workflow } = subject;
  const from = issue.state === 'failure-blocked' ? (issue.blocked_from_state ?? issue.state) : issue.state;
  const taskType = taskTypeOf(workflow, from as State);
  if (!taskType) return subject;
  const task = await restarted(unit, subject, { work, taskType, from: from as State });
  if (task && issue.auto_unblock_at !== null) unit.rows.setIssue(issue.id, NO_LIFT);
  const after = task ? { ...subject, issue: { ...issue, ...NO_LIFT } } : subject;
  await projectIssue(unit, after, [], task);
  return after;
}

const NO_LIFT = { auto_unblock_at: null };

/** The issue's task at its first attempt: its waiting one, or a new one; a claimed one goes on. */
async function restarted(
  unit: TransactionContext,
  subject: IssueContext,
  { work: { task, lingering }, taskType, from }: { work: CurrentWork; taskType: WorkTaskType; from: State },
): Promise<WorkTask | null> {
  const { issue } = subject;
  if (!task) {
    if (await awaitsWrite(unit, issue, from)) return null;
    return enqueueWork(unit, subject, { taskType, lingering });
  }
  if (task.status !== 'pending') return task;
  const held = await currentHold(unit, issue);
  // While the worker of a withdrawn task may still be working, the branch is not free.
  const waits = lingering !== undefined;
  await restartPendingTask(unit.tx, unit.tenantId, task.id, { held, waits });
  unit.notify('svc_tasks');
  return { ...task, attempt: 0, held: waits ? task.held : held };
}

/** Ends the issue without a result. A running worker is notified at its next heartbeat. */
async function cancel(unit: TransactionContext, { subject, work }: OnIssue, actor: Actor): Promise<IssueContext> {
  return (await moveBy(unit, subject, { cause: { trigger: 'cancelled' }, actor, work })).subject;
}

/**
 * Discards the result and restarts from the plan. Our row of the pull request is closed immediately, so that its later
 * close on the host has no effect.
 */
async function reimplement(unit: TransactionContext, { subject, work }: OnIssue, actor: Actor): Promise<IssueContext> {
  await clearReviewRemarks(unit.tx, unit.tenantId, subject.issue.id);
  const moved = await moveBy(unit, subject, { cause: { trigger: 'reimplement' }, actor, work });
  if (subject.pr) await closePullRequest(unit.tx, unit.tenantId, subject.pr.id);
  return moved.subject;
}
