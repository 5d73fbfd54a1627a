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
  /** Whether it was never in the new state before. */
  isFirst: boolean;
}

/** A line in the story of one issue, for people (interface: Issue event). */
export interface IssueEventInput {
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

/** A fact for the live stream. The sequencer gives it its id after the commit. */
export interface StreamInput {
  type: StreamFact;
  data: Record<string, unknown>;
}

/** What a transaction leaves in the logs, each in the order in which it happened. */
export interface Records {
  transitions: TransitionInput[];
  issueEvents: IssueEventInput[];
  pipelineEvents: PipelineEventInput[];
  stream: StreamInput[];
  /** Issues that entered and what was spent: for the sums only. */
  entries: EntryInput[];
  costs: CostInput[];
}

/** What a model call has cost more than was booked before. */
export interface CostInput {
  repoId: number;
  agent: string;
  model: string;
  provider: string;
  usd: number;
  /** What is new of the call itself; it belongs to the time at which the call was first booked. */
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
  /** Whether it ended so: 1, or -1 when it was booked so and is not any more. */
  maxTurns: number;
  noProgress: number;
}

/** An issue that entered the pipeline. */
export interface EntryInput {
  repoId: number;
}
