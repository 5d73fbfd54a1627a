import { z } from 'zod';
import { AgentName } from '../agent-comparison.ts';
import { MAX_CALL_TOKENS, MAX_CALL_USD, MAX_INTEGER } from '../bounds.ts';
import { cappedText } from '../text/pattern.ts';

export const STOP_REASONS = ['completed', 'max_turns', 'no_progress', 'error'] as const;

const tokens = z.int().min(0).max(MAX_CALL_TOKENS).default(0).meta({
  description: 'Tokens of this call so far, at most 1,000,000,000.',
});

/** The same, without the repair of wrong figures: the form in which a worker checks its own records. */
export const ReportedInvocation = z.object({
  index: z.int().min(0).max(MAX_INTEGER).meta({ description: 'Invocation index within the run, zero-based.' }),
  model: z.string().min(1).max(200),
  provider: z.string().min(1).max(100),
  agent: AgentName.optional().meta({
    description: 'Name of the agent that made the call, such as `claude`. Absent = not reported.',
    example: 'claude',
  }),
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
  turns: z.int().min(0).max(MAX_INTEGER).default(0),
  costUsd: z.number().min(0).max(MAX_CALL_USD).nullable().default(null).meta({
    description:
      'Cost of this call so far in USD, at most 100,000; null = unknown, then it is computed from the tokens and the table of model prices. Without tokens, or without a price for the model, the cost is unreported, which is not a cost of 0.',
  }),
  stopReason: z.enum(STOP_REASONS).default('completed'),
});

/**
 * One call of a model within a run. Numbers are cumulative for that call: the highest report wins. A wrong figure never
 * refuses the report around it: it is replaced by the nearest valid one, and the call is marked.
 */
export const Invocation = ReportedInvocation.catch((wrong) =>
  // The generator of documents asks for a default, and there is none.
  wrong === undefined ? (undefined as never) : clampInvocation(wrong.value),
);
export type Invocation = z.infer<typeof ReportedInvocation> & { isClamped?: true };

function clampInvocation(value: unknown): Invocation {
  const given = Object(value) as Record<string, unknown>;
  const tokens = (name: string) => Math.floor(between(given[name], MAX_CALL_TOKENS));
  const costUsd = typeof given.costUsd === 'number' && given.costUsd >= 0 ? between(given.costUsd, MAX_CALL_USD) : null;
  const agent = AgentName.safeParse(given.agent).data;
  return {
    index: Math.floor(between(given.index, MAX_INTEGER)),
    model: name(given.model, 200),
    provider: name(given.provider, 100),
    ...(agent !== undefined && { agent }),
    inputTokens: tokens('inputTokens'),
    outputTokens: tokens('outputTokens'),
    cacheReadTokens: tokens('cacheReadTokens'),
    cacheWriteTokens: tokens('cacheWriteTokens'),
    turns: Math.floor(between(given.turns, MAX_INTEGER)),
    costUsd,
    stopReason: STOP_REASONS.find((reason) => reason === given.stopReason) ?? 'completed',
    isClamped: true,
  };
}

/** A number from 0 to a maximum; 0 for everything that is no number. */
const between = (value: unknown, max: number): number =>
  typeof value === 'number' && value > 0 ? Math.min(value, max) : 0;

const name = (value: unknown, max: number): string =>
  typeof value === 'string' && value !== '' ? cappedText(value, max) : 'unknown';
