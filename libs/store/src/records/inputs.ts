import type { State } from '@pipeline/domain';
import type { StreamFact } from '../stream/stream.ts';

export type ActorType = 'agent' | 'workflow-engine' | 'operator' | 'system';

export interface TransitionInput {
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
  /** ISO 8601. */
  enteredPipelineAt: string;
  /** Whether this is the first time in the new state. */
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
export interface PipelineEventInput {
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
export interface CostInput {
  repoId: number;
  agent: string;
  model: string;
  provider: string;
  usd: number;
  /** New values of the call itself; they belong to the time at which the call was first recorded. */
  call: CallGrowth;
}

export interface CallGrowth {
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
}

/** An admitted issue. */
export interface EntryInput {
  repoId: number;
}
