import { z } from 'zod';
import { MAX_CALL_TOKENS, MAX_CALL_USD, MAX_INTEGER } from './bounds.ts';
import { ScannedResult } from './code-map.ts';
import { FindingEvidenceInput } from './finding-evidence.ts';
import { RetrospectiveResult } from './retrospectives.ts';
import type { TaskType } from './tasks.ts';

const text = (max: number) => z.string().min(1).max(max);
const path = z.string().min(1).max(1_000);
const sha = z.string().regex(/^[0-9a-f]{7,64}$/, 'must be a hexadecimal commit id');

/** The result fields of each outcome. The engine decides the next state; a report never names one. */
export const OUTCOME_RESULTS = {
  analyzed: z.object({ summary: z.string().max(20_000).optional() }),
  'not-planned': z.object({ reason: text(5_000) }),
  planned: z.object({ plan: text(100_000), plannedFiles: z.array(path).max(1_000) }),
  split: z.object({
    subtasks: z
      .array(
        z.object({ title: text(256), body: z.string().max(60_000), labels: z.array(text(50)).max(20).default([]) }),
      )
      .min(1)
      .max(20),
  }),
  depends: z.object({ on: z.array(text(200)).min(1).max(50) }),
  'needs-clarification': z.object({ question: text(20_000) }),
  submitted: z.object({
    branch: text(255),
    headSha: sha,
    title: text(256),
    body: z.string().max(60_000),
    changedFiles: z.array(path).max(3_000),
  }),
  replan: z.object({ reason: text(5_000) }),
  approved: z.object({
    body: z.string().max(60_000).default(''),
    headSha: sha
      .optional()
      .describe('The commit that was read; another one than the task names makes the review void.'),
  }),
  'changes-requested': z.object({
    body: text(60_000),
    comments: z
      .array(z.object({ path, line: z.int().min(1).max(MAX_INTEGER), body: text(20_000) }))
      .max(200)
      .default([]),
  }),
  'needs-human': z.object({ reason: text(5_000) }),
  mergeable: z.object({ headSha: sha }),
  conflict: z.object({ files: z.array(path).max(3_000).default([]) }),
  'not-ready': z.object({ reason: text(5_000) }),
  retrospective: RetrospectiveResult,
  scanned: ScannedResult,
} as const;

export type OutcomeName = keyof typeof OUTCOME_RESULTS;
export const OUTCOME_NAMES = Object.keys(OUTCOME_RESULTS) as OutcomeName[];

export type Outcome = {
  [N in OutcomeName]: { outcome: N; result: z.output<(typeof OUTCOME_RESULTS)[N]> };
}[OutcomeName];

/** The outcomes allowed for a task type; a report with any other is refused with this list. */
export const OUTCOMES_OF: Record<TaskType, readonly OutcomeName[]> = {
  analyze: ['analyzed', 'split', 'needs-clarification', 'depends', 'not-planned'],
  plan: ['planned', 'split', 'needs-clarification', 'depends'],
  develop: ['submitted', 'replan', 'needs-clarification', 'depends'],
  review: ['approved', 'changes-requested', 'needs-human'],
  merge: ['mergeable', 'conflict', 'not-ready'],
  retrospect: ['retrospective'],
  'code-map-scan': ['scanned'],
};

/** The outcome for exit code 0 of an `--exec` agent; a review has no neutral success and must print its verdict. */
export const DEFAULT_OUTCOME: Partial<Record<TaskType, OutcomeName>> = {
  analyze: 'analyzed',
  plan: 'planned',
  develop: 'submitted',
  merge: 'mergeable',
  retrospect: 'retrospective',
  'code-map-scan': 'scanned',
};

export const ERROR_CLASSES = ['transient', 'permanent', 'quota', 'unknown'] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

export const STOP_REASONS = ['completed', 'max_turns', 'no_progress', 'error'] as const;

const tokens = z.int().min(0).max(MAX_CALL_TOKENS).default(0).meta({
  description: 'Tokens of this call so far, at most 1,000,000,000.',
});

/** One call of a model within a run. Numbers are cumulative for that call: the highest report wins. */
export const Invocation = z.object({
  index: z.int().min(0).max(MAX_INTEGER).meta({ description: 'Which call of the run, counted from 0.' }),
  model: text(200),
  provider: text(100),
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
  turns: z.int().min(0).max(MAX_INTEGER).default(0),
  costUsd: z.number().min(0).max(MAX_CALL_USD).nullable().default(null).meta({
    description:
      'Cost of this call so far in USD, at most 100,000; null = unknown, then it is computed from the tokens and the table of model prices.',
  }),
  stopReason: z.enum(STOP_REASONS).default('completed'),
});
export type Invocation = z.infer<typeof Invocation>;

/** An artefact of a run for people to read. */
export const ArtefactInput = z.object({
  kind: text(100),
  mediaType: text(200).default('text/plain'),
  title: text(500),
  body: z.string().max(1_048_576),
});
export type ArtefactInput = z.infer<typeof ArtefactInput>;

export const SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** An observation of an agent about the code or the issue (interface: Agent finding). */
export const FindingInput = z.object({
  findingType: text(100),
  category: text(100),
  severity: z.enum(SEVERITIES),
  confidence: z.number().min(0).max(1).nullable().default(null),
  title: text(500),
  summary: text(20_000),
  recommendation: z.string().max(20_000).nullable().default(null),
  evidence: z.array(FindingEvidenceInput).max(100).default([]),
  metadata: z.record(z.string(), z.unknown()).default({}),
  blocksProgress: z.boolean().default(false),
});
export type FindingInput = z.infer<typeof FindingInput>;
