import type { State } from '@pipeline/domain';
import { v7 as uuidv7 } from 'uuid';
import type { Tx } from './connection.ts';
import { jsonb } from './json.ts';

export type ActorType = 'agent' | 'workflow-engine' | 'operator' | 'system';

export interface IssueEventInput {
  issueId: number;
  actorType: ActorType;
  actorId: string | null;
  status: string;
  details: Record<string, unknown> | null;
  state: State;
}

/** A line in the story of one issue, for people (interface: Issue event). */
export async function insertIssueEvent(tx: Tx, tenantId: number, event: IssueEventInput): Promise<void> {
  await tx
    .insertInto('issue_events')
    .values({
      tenant_id: tenantId,
      issue_id: event.issueId,
      actor_type: event.actorType,
      actor_id: event.actorId,
      status: event.status,
      details: event.details === null ? null : (jsonb(event.details) as never),
      state: event.state,
    })
    .execute();
}

export interface PipelineEventInput {
  repoId: number;
  issueId: number | null;
  issueNumber: number | null;
  eventType: string;
  agent: string;
  payload: Record<string, unknown>;
}

/** A fact for analytics and audit. */
export async function insertPipelineEvent(tx: Tx, tenantId: number, event: PipelineEventInput): Promise<void> {
  await tx
    .insertInto('pipeline_events')
    .values({
      tenant_id: tenantId,
      repo_id: event.repoId,
      issue_id: event.issueId,
      issue_number: event.issueNumber,
      event_type: event.eventType,
      agent: event.agent,
      payload: jsonb(event.payload) as never,
    })
    .execute();
}

export type StreamEventType = 'state-transition' | 'cost-update' | 'worker-status' | 'alert' | 'issue-status';

/** Hands a fact to the live stream, in the transaction of the fact. The sequencer gives it its id after the commit. */
export async function emit(
  tx: Tx,
  tenantId: number,
  type: StreamEventType,
  data: Record<string, unknown>,
): Promise<void> {
  await tx
    .insertInto('stream_outbox')
    .values({ tenant_id: tenantId, id: uuidv7(), event_type: type, data: jsonb(data) as never })
    .execute();
}
