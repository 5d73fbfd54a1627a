import type { State, TaskType } from '@pipeline/domain';
import { AGENT_OF, formatSlug } from '@pipeline/domain';
import { emit, type IssueRow, insertIssueEvent, insertPipelineEvent, insertTransition } from '@pipeline/store';
import type { Unit } from './context.ts';
import type { Actor, Subject } from './subject.ts';

/**
 * One function per business fact: it feeds the issue's story, the event log and the live stream together, in the
 * transaction of the fact, so the three never tell different tales.
 */
export async function recordTransition(
  unit: Unit,
  subject: Subject,
  move: { to: State; trigger: string; forced: boolean },
  actor: Actor,
): Promise<void> {
  const { issue, repo } = subject;
  const from = issue.state as State;
  await insertTransition(unit.tx, {
    tenant_id: unit.tenantId,
    repo_id: issue.repo_id,
    issue_id: issue.id,
    from_state: from,
    to_state: move.to,
    trigger: move.trigger,
    forced: move.forced,
    agent: actor.agent,
    actor_type: actor.type,
    actor_id: actor.id,
    reason: actor.reason ?? null,
    duration_in_from_ms: issue.ms_in_state,
  });
  await recordIssueEvent(unit, subject, {
    status: `moved to ${move.to}`,
    details: { from, to: move.to, trigger: move.trigger },
    actor: actor,
    state: move.to,
  });
  await recordPipelineEvent(unit, subject, {
    eventType: 'state_transition',
    agent: actor.agent ?? actor.type,
    payload: { from, to: move.to },
  });
  await emit(unit.tx, unit.tenantId, 'state-transition', {
    issueNumber: issue.issue_number,
    repo: formatSlug(repo),
    from,
    to: move.to,
    agent: actor.agent ?? actor.type,
  });
  unit.ring('svc_stream');
}

/** A line in the issue's own story. */
export async function recordIssueEvent(
  unit: Unit,
  { issue }: Pick<Subject, 'issue'>,
  event: { status: string; details: Record<string, unknown> | null; actor: Actor; state?: State },
): Promise<void> {
  const { actor, details } = event;
  await insertIssueEvent(unit.tx, unit.tenantId, {
    issueId: issue.id,
    actorType: actor.type,
    actorId: actor.id ?? actor.agent,
    status: event.status,
    details: actor.reason ? { ...details, reason: actor.reason } : details,
    state: event.state ?? issue.state,
  });
}

/** What an event is about; no id = an issue that the pipeline has no record of. */
export interface EventSubject {
  issue: Pick<IssueRow, 'repo_id' | 'issue_number'> & { id: number | null };
}

export async function recordPipelineEvent(
  unit: Unit,
  { issue }: EventSubject,
  event: { eventType: string; agent: string; payload: Record<string, unknown> },
): Promise<void> {
  await insertPipelineEvent(unit.tx, unit.tenantId, {
    ...event,
    repoId: issue.repo_id,
    issueId: issue.id,
    issueNumber: issue.issue_number,
  });
}

export interface TaskFact {
  taskId: string;
  taskType: TaskType;
  attempt: number;
  workerId?: string;
  error?: string;
}

export const recordTaskEvent = (
  unit: Unit,
  subject: Pick<Subject, 'issue'>,
  eventType: 'task_enqueued' | 'task_completed' | 'task_failed' | 'task_reclaimed',
  fact: TaskFact,
): Promise<void> =>
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

/** Who did what and why: the audit of everything an operator does. `action` is the name of the deed. */
export const recordOperation = (
  unit: Unit,
  subject: EventSubject,
  actor: Actor,
  { action, ...more }: { action: string } & Record<string, unknown>,
): Promise<void> =>
  recordPipelineEvent(unit, subject, {
    eventType: 'operator_action',
    agent: actor.id ?? actor.type,
    payload: { action, actorId: actor.id, reason: actor.reason ?? null, ...more },
  });
