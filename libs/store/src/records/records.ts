import type { Invocation, State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
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
  /** Admitted issues and costs: for the rollups only. */
  entries: EntryInput[];
  costs: CostInput[];
}

/** The additional cost of a model call over its recorded cost. */
interface CostInput {
  repoId: number;
  agent: string;
  model: string;
  provider: string;
  usd: number;
  /** New values of the call itself; they belong to the time at which the call was first recorded. */
  call: CallGrowth;
}

interface CallGrowth {
  /** ISO 8601; null = now. */
  at: string | null;
  /** 1 for a call that was not known before. */
  invocations: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** 1 when it now has this result, -1 when it was recorded with it and no longer has it. */
  maxTurns: number;
  noProgress: number;
  /** 1 when its cost is now unreported, -1 when it no longer is. */
  unreportedCosts: number;
}

/** An admitted issue. */
interface EntryInput {
  repoId: number;
}

const ended = (stopReason: Invocation['stopReason'] | undefined, as: Invocation['stopReason']) =>
  stopReason === as ? 1 : 0;

/** The recorded values of a call. */
export interface BookedCall {
  model: string;
  provider: string;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** Null = unreported. */
  cost_usd: number | null;
  stop_reason: Invocation['stopReason'];
  created_at: string;
}

/** The growth of a call by another report. Numbers only grow: of two reports the higher value is kept. */
export function growthOf(item: Invocation, before: BookedCall | undefined): CallGrowth {
  const more = (now: number, then: number | undefined) => Math.max(0, now - (then ?? 0));
  const turned = (reason: Invocation['stopReason']) =>
    ended(item.stopReason, reason) - ended(before?.stop_reason, reason);
  const isUnreported = item.costUsd === null && (before?.cost_usd ?? null) === null;
  return {
    at: before?.created_at ?? null,
    invocations: before ? 0 : 1,
    inputTokens: more(item.inputTokens, before?.input_tokens),
    outputTokens: more(item.outputTokens, before?.output_tokens),
    cacheReadTokens: more(item.cacheReadTokens, before?.cache_read_tokens),
    cacheWriteTokens: more(item.cacheWriteTokens, before?.cache_write_tokens),
    maxTurns: turned('max_turns'),
    noProgress: turned('no_progress'),
    unreportedCosts: Number(isUnreported) - Number(before?.cost_usd === null),
  };
}

interface Move {
  from: State | null;
  to: State;
  /** Time of admission; null = now. */
  cohort: string | null;
  /** True = the issue is in that state for the first time. */
  first: boolean;
  stay: number | null;
}

interface Body {
  moves: Move[];
  costs: Omit<CostInput, 'repoId'>[];
  events: { type: string; task: string | null; n: number }[];
}

interface Facts {
  entries: readonly EntryInput[];
  transitions: readonly TransitionInput[];
  costs: readonly CostInput[];
  pipelineEvents: readonly PipelineEventInput[];
}

/** The rollup deltas of a transaction: one row per repo that it changed. */
function deltasOf({ entries, transitions, costs, pipelineEvents }: Facts): { repoId: number; body: Body }[] {
  const bodies = new Map<number, Body>();
  const of = (repoId: number): Body => {
    const body = bodies.get(repoId) ?? { moves: [], costs: [], events: [] };
    bodies.set(repoId, body);
    return body;
  };
  for (const { repoId } of entries) {
    of(repoId).moves.push({ from: null, to: 'new', cohort: null, first: true, stay: null });
  }
  for (const { repoId, from, to, enteredPipelineAt: cohort, isFirst: first, durationMs: stay } of transitions) {
    of(repoId).moves.push({ from, to, cohort, first, stay });
  }
  for (const { repoId, ...cost } of costs) of(repoId).costs.push(cost);
  for (const { repoId, eventType: type, payload } of pipelineEvents) {
    const task = typeof payload.taskType === 'string' ? payload.taskType : null;
    of(repoId).events.push({ type, task, n: 1 });
  }
  return [...bodies].map(([repoId, body]) => ({ repoId, body }));
}

export const noRecords = (): Records => ({
  transitions: [],
  issueEvents: [],
  pipelineEvents: [],
  stream: [],
  entries: [],
  costs: [],
});

type Texts = { [K in 'transitions' | 'issueEvents' | 'pipelineEvents' | 'stream' | 'deltas']: string };

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
        actor_id, reason, duration_in_from_ms, at)
      select ${p('tenantId')}, t."repoId", t."issueId", t."from", t."to", t."trigger", t.forced, t.agent, t."actorType",
        t."actorId", t.reason, t."durationMs", svc_now() + t."lateUs" * interval '1 microsecond'
      from jsonb_to_recordset(${p('transitions')}::jsonb) as t ("repoId" bigint, "issueId" bigint, "from" text, "to" text,
        "trigger" text, forced boolean, agent text, "actorType" text, "actorId" text, reason text, "durationMs" bigint,
        "lateUs" bigint)
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
    ), delta as (
      insert into rollup_deltas (tenant_id, repo_id, body)
      select ${p('tenantId')}, d."repoId", d.body
      from jsonb_to_recordset(${p('deltas')}::jsonb) as d ("repoId" bigint, body jsonb)
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
    deltas: JSON.stringify(deltasOf(records)),
  });
}
