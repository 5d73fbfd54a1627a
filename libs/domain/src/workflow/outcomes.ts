import { z } from 'zod';
import { MAX_INTEGER } from '../bounds.ts';
import { ScannedResult } from '../knowledge/code-map.ts';
import { RetrospectiveResult } from '../knowledge/retrospective.ts';
import type { TaskType } from '../task-types.ts';

const text = (max: number) => z.string().min(1).max(max).regex(/\S/, 'must not be blank');
const path = z.string().min(1).max(1_000);
const sha = z.string().regex(/^[0-9a-f]{7,64}$/, 'must be a hexadecimal commit id');

/** Maximum number of characters of a plan, from an agent or a person. */
export const MAX_PLAN = 100_000;

/** Maximum number of subtasks of an issue. */
export const MAX_SUBTASKS = 20;

/** The result fields of each outcome. The engine decides the next state; a report never names one. */
export const OUTCOME_RESULTS = {
  analyzed: z.object({ summary: z.string().max(20_000).optional() }),
  'not-planned': z.object({ reason: text(5_000) }),
  planned: z.object({ plan: text(MAX_PLAN), plannedFiles: z.array(path).max(1_000) }),
  split: z.object({
    subtasks: z
      .array(
        z.object({ title: text(256), body: z.string().max(60_000), labels: z.array(text(50)).max(20).default([]) }),
      )
      .min(1)
      .max(MAX_SUBTASKS),
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
      .describe('The reviewed commit. The review is void when it differs from the commit of the task.'),
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
