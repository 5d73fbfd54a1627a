import type { State, TaskType } from '@pipeline/domain';
import { AGENT_OF, formatSlug, stateBit } from '@pipeline/domain';
import { type IssueRow, insertAuditEntry, type RunRow, type StreamInput } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext } from '../context/issue-context.ts';

/**
 * One function per business fact: it writes the issue's timeline, the event log and the live stream together, in the
 * transaction of the fact, so the three always agree.
 */
export function recordTransition(
  unit: TransactionContext,
  subject: IssueContext,
  move: { to: State; trigger: string; forced: boolean },
  actor: Actor,
): void {
  const { issue, repo } = subject;
  const from = issue.state as State;
  unit.records.transitions.push({
    repoId: issue.repo_id,
    issueId: issue.id,
    from,
    to: move.to,
    trigger: move.trigger,
    forced: move.forced,
    agent: actor.agent,
    actorType: actor.type,
    actorId: actor.id,
    reason: actor.reason ?? null,
    durationMs: issue.ms_in_state,
    lateUs: issue.late_us,
    enteredPipelineAt: issue.created_at,
    isFirst: (issue.reached_states & stateBit(move.to)) === 0,
  });
  recordIssueEvent(unit, subject, {
    status: `moved to ${move.to}`,
    details: { from, to: move.to, trigger: move.trigger },
    actor: actor,
    state: move.to,
  });
  recordPipelineEvent(unit, subject, {
    eventType: 'state_transition',
    agent: actor.agent ?? actor.type,
    payload: { from, to: move.to },
  });
  emit(unit, 'state-transition', {
    issueNumber: issue.issue_number,
    repo: formatSlug(repo),
    from,
    to: move.to,
    agent: actor.agent ?? actor.type,
  });
}

/** Appends a fact to the live stream. */
export function emit(unit: TransactionContext, type: StreamInput['type'], data: StreamInput['data']): void {
  unit.records.stream.push({ type, data });
  unit.notify('svc_stream');
}

/** Appends an entry to the issue's timeline. The caller has locked the issue: clients read its entries by time. */
export function recordIssueEvent(
  unit: TransactionContext,
  { issue }: Pick<IssueContext, 'issue'>,
  event: { status: string; details: Record<string, unknown> | null; actor: Actor; state?: State },
): void {
  const { actor, details } = event;
  const why = { ...(actor.reason && { reason: actor.reason }), ...(actor.bulkId && { bulkId: actor.bulkId }) };
  unit.records.issueEvents.push({
    issueId: issue.id,
    actorType: actor.type,
    actorId: actor.id ?? actor.agent,
    status: event.status,
    details: Object.keys(why).length > 0 ? { ...details, ...why } : details,
    state: event.state ?? issue.state,
  });
}

/** The subject of an event; no id = an issue without a record; no number = a whole repo. */
export interface EventSubject {
  issue: { repo_id: number; issue_number: number | null; id: number | null };
}

export function recordPipelineEvent(
  unit: TransactionContext,
  { issue }: EventSubject,
  event: { eventType: string; agent: string; payload: Record<string, unknown> },
): void {
  unit.records.pipelineEvents.push({
    ...event,
    repoId: issue.repo_id,
    issueId: issue.id,
    issueNumber: issue.issue_number,
  });
}

interface TaskFact {
  taskId: string;
  taskType: TaskType;
  attempt: number;
  workerId?: string;
  error?: string;
}

export const recordTaskEvent = (
  unit: TransactionContext,
  subject: EventSubject,
  eventType: 'task_enqueued' | 'task_completed' | 'task_failed' | 'task_reclaimed',
  fact: TaskFact,
): void =>
  recordPipelineEvent(unit, subject, {
    eventType: eventType,
    agent: AGENT_OF[fact.taskType],
    payload: {
      taskId: fact.taskId,
      taskType: fact.taskType,
      attempt: fact.attempt,
      workerId: fact.workerId ?? null,
      error: fact.error ?? null,
    },
  });

/** Actor, action and reason: the audit of operators' actions. `action` is the name of the action. */
export const recordOperation = (
  unit: TransactionContext,
  subject: EventSubject,
  actor: Actor,
  { action, ...more }: { action: string } & Record<string, unknown>,
): void =>
  recordPipelineEvent(unit, subject, {
    eventType: 'operator_action',
    agent: actor.id ?? actor.type,
    payload: {
      action,
      actorId: actor.id,
      reason: actor.reason ?? null,
      ...(actor.bulkId && { bulkId: actor.bulkId }),
      ...more,
    },
  });

/** The same for actions without a repo. */
export const recordGlobalOperation = (
  unit: TransactionContext,
  actor: Actor,
  { action, subject }: { action: string; subject: string },
) =>
  insertAuditEntry(unit.tx, {
    actorType: actor.type,
    actorId: actor.id ?? actor.type,
    action,
    subject,
    reason: actor.reason ?? null,
    details: {},
  });

/** Facts about an issue for the readers of the live stream, unless they are a move: a move has its own event. */
export const publishIssueStatus = (
  unit: TransactionContext,
  { issue, repo }: PublishedIssue,
  { status, actor }: { status: string; actor: Pick<Actor, 'type'> },
): void =>
  emit(unit, 'issue-status', {
    issueNumber: issue.issue_number,
    repo: formatSlug(repo),
    status,
    actorType: actor.type,
    state: issue.state,
  });

interface PublishedIssue {
  issue: IssueRow;
  repo: Parameters<typeof formatSlug>[0];
}

/** An operator's action that leaves an issue in its state: its audit entry, and an event for readers of the issue. */
export function recordIssueOperation(
  unit: TransactionContext,
  subject: PublishedIssue,
  actor: Actor,
  operation: { action: string } & Record<string, unknown>,
): void {
  recordOperation(unit, subject, actor, operation);
  publishIssueStatus(unit, subject, { status: `${operation.action} by ${actor.type}`, actor });
}

/** The subject of a run's events: its issue, or its repo. */
export const subjectOfRun = (run: RunRow, issue: IssueRow | undefined): EventSubject => ({
  issue: issue ?? { id: null, repo_id: run.repo_id, issue_number: null },
});
