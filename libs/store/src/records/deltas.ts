import type { Invocation, State } from '@pipeline/domain';
import type { CallGrowth, CostInput, EntryInput, PipelineEventInput, TransitionInput } from './inputs.ts';

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
  cost_usd: number;
  stop_reason: Invocation['stopReason'];
  created_at: string;
}

/** The growth of a call by another report. Numbers only grow: of two reports the higher value is kept. */
export function growthOf(item: Invocation, before: BookedCall | undefined): CallGrowth {
  const more = (now: number, then: number | undefined) => Math.max(0, now - (then ?? 0));
  const turned = (reason: Invocation['stopReason']) =>
    ended(item.stopReason, reason) - ended(before?.stop_reason, reason);
  return {
    at: before?.created_at ?? null,
    invocations: before ? 0 : 1,
    inputTokens: more(item.inputTokens, before?.input_tokens),
    outputTokens: more(item.outputTokens, before?.output_tokens),
    cacheReadTokens: more(item.cacheReadTokens, before?.cache_read_tokens),
    cacheWriteTokens: more(item.cacheWriteTokens, before?.cache_write_tokens),
    maxTurns: turned('max_turns'),
    noProgress: turned('no_progress'),
  };
}

interface Move {
  from: State | null;
  to: State;
  /** Time of admission; null = now. */
  cohort: string | null;
  /** Whether it is in that state for the first time. */
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
export function deltasOf({ entries, transitions, costs, pipelineEvents }: Facts): { repoId: number; body: Body }[] {
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
