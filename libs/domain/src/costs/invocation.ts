import { AgentName } from '../agent-comparison.ts';
import { MAX_CALL_TOKENS, MAX_CALL_USD, MAX_INTEGER } from '../bounds.ts';
import { z } from '../lazy-zod.ts';

export const STOP_REASONS = ['completed', 'max_turns', 'no_progress', 'error'] as const;

const tokens = z.int().min(0).max(MAX_CALL_TOKENS).default(0).meta({
  description: 'Tokens of this call so far, at most 1,000,000,000.',
});

/** One call of a model within a run. Numbers are cumulative for that call: the highest report wins. */
export const Invocation = z.object({
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
export type Invocation = z.infer<typeof Invocation>;
