import { z } from 'zod';
import type { ErrorClass } from '../error-classes.ts';
import { repoPath } from '../repo-path.ts';
import type { State } from '../states.ts';
import type { TaskType } from '../task-types.ts';

/** The classification of an issue by its retrospective. */
export const OUTCOME_CLASSIFICATIONS = ['success', 'partial', 'failure', 'abandoned'] as const;
export type OutcomeClassification = (typeof OUTCOME_CLASSIFICATIONS)[number];

const MAX_NOTE_CHARS = 100_000;

const note = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= MAX_NOTE_CHARS, `must be at most ${MAX_NOTE_CHARS} characters`)
  .nullable()
  .default(null);

/** The inputs of drift; further keys are defined by the agent. */
const fileSet = z
  .looseObject({ files: z.array(repoPath).max(3_000) })
  .nullable()
  .default(null);

/** Null files are filled in from the plan and the submission. */
export const RetrospectiveResult = z.object({
  outcomeClassification: z.enum(OUTCOME_CLASSIFICATIONS),
  summary: z.string().min(1).max(20_000),
  plannedFiles: fileSet,
  actualFiles: fileSet,
  failures: note,
  lessons: note,
});
export type RetrospectiveResult = z.output<typeof RetrospectiveResult>;

/** The input of a retrospective: a summary of the issue. Lists hold the newest entries, oldest first. */
export interface IssueHistory {
  end: 'merged' | 'ended';
  /** Time of admission, and of the last end. */
  enteredAt: string;
  endedAt: string | null;
  /** Files of the merged pull requests, else of the last submission. */
  changedFiles: string[];
  pullRequests: { number: number; url: string; merged: boolean; mergeSha: string | null }[];
  /** Number of times that changes were requested. */
  reviewCycles: number;
  failures: {
    taskType: TaskType;
    attempt: number;
    errorClass: ErrorClass | null;
    message: string;
    at: string | null;
  }[];
  /** Reported costs; `unreportedCosts` is the number of invocations that they do not contain. */
  costs: { totalUsd: number; unreportedCosts: number; byAgent: { agent: string; usd: number; runs: number }[] };
  timeline: { at: string; from: State | null; to: State; trigger: string; minutes: number | null }[];
}
