import {
  ArtefactInput,
  ERROR_CLASSES,
  FindingInput,
  IntelligenceInput,
  Invocation,
  MAX_INTEGER,
  OUTCOME_RESULTS,
  type OutcomeName,
} from '@pipeline/domain';
import { z } from 'zod';
import { TimestampInput } from '../wire/timestamp-input.ts';

/** Fencing token of a claim: only the token of the latest claim of a task is valid. */
export const claimToken = z
  .uuid()
  .meta({ description: 'Token returned by the claim.', example: '0198c5a4-7c1e-7000-8000-000000000001' });

export const invocations = z.array(Invocation).max(1_000).meta({
  description:
    'Model invocations of this attempt so far, with cumulative figures. Of several reports of one invocation, the highest values count.',
});

const report = <N extends OutcomeName>(outcome: N) =>
  z.object({
    claimToken,
    outcome: z.literal(outcome),
    result: OUTCOME_RESULTS[outcome],
    artefacts: z.array(ArtefactInput).max(100).default([]),
    findings: z.array(FindingInput).max(500).default([]),
    intelligence: z
      .array(IntelligenceInput)
      .max(50)
      .default([])
      .meta({ description: 'Knowledge about the repo for later tasks.' }),
    invocations: invocations.default([]),
  });

/** Report of a completed task: the outcome with its result. The engine derives the next state. */
export const CompleteReport = z
  .discriminatedUnion('outcome', [
    report('analyzed'),
    report('not-planned'),
    report('planned'),
    report('split'),
    report('depends'),
    report('needs-clarification'),
    report('submitted'),
    report('replan'),
    report('approved'),
    report('changes-requested'),
    report('needs-human'),
    report('mergeable'),
    report('conflict'),
    report('not-ready'),
    report('retrospective'),
    report('scanned'),
  ])
  .meta({ id: 'CompleteReport' });
export type CompleteReport = z.output<typeof CompleteReport>;

export const FailReport = z.object({
  claimToken,
  errorMessage: z.string().min(1).max(20_000),
  errorClass: z.enum(ERROR_CLASSES),
  retryAfterMs: z.int().nonnegative().max(86_400_000).optional().meta({
    description: 'Minimum delay before the retry, in milliseconds. Values above 6 hours are treated as 6 hours.',
  }),
  invocations: invocations.default([]),
});
export type FailReport = z.output<typeof FailReport>;

/** One message of an agent's transcript; a repeated message is stored once. */
export const AgentMessageInput = z.object({
  invocationIndex: z.int().min(0).max(MAX_INTEGER),
  sequence: z.int().min(0).max(MAX_INTEGER).meta({
    description:
      'Counts the messages of the invocation, from 0 in each attempt. Reads show it continued over the attempts of a task.',
  }),
  agent: z.string().min(1).max(100).optional().meta({ description: 'Ignored: messages have the agent of the task.' }),
  role: z.enum(['assistant', 'user', 'system']),
  subtype: z.enum(['text', 'thinking', 'tool_use', 'tool_result', 'system']),
  toolName: z.string().max(200).nullable().default(null),
  toolInput: z.unknown().optional(),
  toolOutput: z.unknown().optional(),
  content: z.string().nullable().default(null),
  createdAt: TimestampInput.optional(),
});
export type AgentMessageInput = z.output<typeof AgentMessageInput>;
