import type { State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { bin } from '../analytics/rollups/sums.ts';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { StreamFact } from '../stream/stream.ts';

export type ActorType = 'agent' | 'workflow-engine' | 'operator' | 'system';

interface TransitionInput {
  repoId: number;
  issueId: number;
  from: State;
  to: State;
  trigger: string;
  forced: boolean;
  agent: string | null;
  actorType: ActorType;
  actorId: string | null;
  reason: string | null;
  /** Milliseconds in the state that it left. */
  durationMs: number;
  /** Microseconds of its time after the beginning of the transaction. */
  lateUs: number;
  /** ISO 8601. */
  enteredPipelineAt: string;
  /** True = the issue is in the new state for the first time. */
  isFirst: boolean;
}

/** A timeline entry of one issue, for people (interface: Issue event). */
interface IssueEventInput {
  issueId: number;
  actorType: ActorType;
  actorId: string | null;
  status: string;
  details: Record<string, unknown> | null;
  state: State;
}

/** A fact for analytics and audit. */
interface PipelineEventInput {
  repoId: number;
  issueId: number | null;
  issueNumber: number | null;
  eventType: string;
  agent: string;
  payload: Record<string, unknown>;
}

/** A fact for the live stream. The sequencer assigns its id after the commit. */
export interface StreamInput {
  type: StreamFact;
  data: Record<string, unknown>;
}

/** Log entries of a transaction, each kind in order. */
export interface Records {
  transitions: TransitionInput[];
  issueEvents: IssueEventInput[];
  pipelineEvents: PipelineEventInput[];
  stream: StreamInput[];
  /** Model calls of this transaction that were recorded before and have grown. */
  grownCalls: GrownCall[];
}

/** The hour of such a call is computed again when it is over. */
interface GrownCall {
  repoId: number;
  /** Time at which the call was first recorded, ISO 8601. */
  at: string;
}

export const noRecords = (): Records => ({
  transitions: [],
  issueEvents: [],
  pipelineEvents: [],
  stream: [],
  grownCalls: [],
});

type Texts = { [K in 'transitions' | 'issueEvents' | 'pipelineEvents' | 'stream' | 'grownCalls']: string };

/**
 * The time of an issue's next event: that of the transaction, or just after an event that a later transaction committed
 * first. Every writer, agents' reports included, has locked the issue's row before it begins this statement and keeps
 * the lock until its commit, so events of one issue become visible in time order and a client that polls by the newest
 * time misses none. Cost: a probe of issue_events_of_issue in the newest partition, which holds the last minutes.
 */
const laterThanAll = (issueId: string, tenantId: RawBuilder<unknown>) => sql`
  greatest(svc_now(), (
    select max(o.created_at) + interval '1 microsecond' from issue_events o
    where o.tenant_id = ${tenantId} and o.issue_id = ${sql.raw(issueId)}
      and o.created_at > svc_now() - interval '1 minute'))`;

// A transition is not before the state that it leaves: a transaction that waited for the issue began before that.
const insert = prepared(
  'insert-records',
  (_db, p: Params<Texts & { tenantId: number }>) => sql`
    with transition as (
      insert into transitions (tenant_id, repo_id, issue_id, from_state, to_state, trigger, forced, agent, actor_type,
        actor_id, reason, duration_in_from_ms, at, admitted_at, is_first)
      select ${p('tenantId')}, t."repoId", t."issueId", t."from", t."to", t."trigger", t.forced, t.agent, t."actorType",
        t."actorId", t.reason, t."durationMs", svc_now() + t."lateUs" * interval '1 microsecond',
        t."enteredPipelineAt", t."isFirst"
      from jsonb_to_recordset(${p('transitions')}::jsonb) as t ("repoId" bigint, "issueId" bigint, "from" text, "to" text,
        "trigger" text, forced boolean, agent text, "actorType" text, "actorId" text, reason text, "durationMs" bigint,
        "lateUs" bigint, "enteredPipelineAt" timestamptz, "isFirst" boolean)
    ), story as (
      insert into issue_events (tenant_id, created_at, issue_id, actor_type, actor_id, status, details, state)
      select ${p('tenantId')}, ${laterThanAll('e."issueId"', p('tenantId'))}, e."issueId", e."actorType", e."actorId", e.status, e.details, e.state
      from jsonb_to_recordset(${p('issueEvents')}::jsonb) as e ("issueId" bigint, "actorType" text, "actorId" text,
        status text, details jsonb, state text)
    ), event as (
      insert into pipeline_events (tenant_id, repo_id, issue_id, issue_number, event_type, agent, payload)
      select ${p('tenantId')}, e."repoId", e."issueId", e."issueNumber", e."eventType", e.agent, e.payload
      from jsonb_to_recordset(${p('pipelineEvents')}::jsonb) as e ("repoId" bigint, "issueId" bigint,
        "issueNumber" integer, "eventType" text, agent text, payload jsonb)
    ), late as (
      insert into late_costs (tenant_id, repo_id, hour)
      select ${p('tenantId')}, c."repoId", ${bin('1 hour', sql`c."at"`)}
      from jsonb_to_recordset(${p('grownCalls')}::jsonb) as c ("repoId" bigint, "at" timestamptz)
      where c."at" < ${bin('1 hour', sql`svc_now()`)}
    )
    insert into stream_outbox (tenant_id, event_type, data)
    select ${p('tenantId')}, s.type, s.data
    from jsonb_to_recordset(${p('stream')}::jsonb) as s (type text, data jsonb)`,
);

/** Writes the log entries of a transaction in one statement, whatever their number. */
export async function insertRecords(tx: Tx, tenantId: number, records: Records): Promise<void> {
  if (Object.values(records).every((entries) => entries.length === 0)) return;
  await insert.run(tx, {
    tenantId,
    transitions: JSON.stringify(records.transitions),
    issueEvents: JSON.stringify(records.issueEvents),
    pipelineEvents: JSON.stringify(records.pipelineEvents),
    stream: JSON.stringify(records.stream),
    grownCalls: JSON.stringify(records.grownCalls),
  });
}
