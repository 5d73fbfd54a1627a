import { ENQUEUE_LABEL, isOutputLabel } from '../labels.ts';
import { MAX_SUBTASKS } from './outcomes.ts';

/** The place of an issue among the issues that were split. */
export interface SplitFacts {
  /** It is itself a subtask. */
  isSubtask: boolean;
  /** Subtasks that it was split into before. */
  subtasks: number;
}

/**
 * The question to a person instead of a split that is too deep or too large: a subtask is not split again, and an issue
 * has at most 20 subtasks in all its splits. @returns null = it may be split.
 */
export function splitQuestion({ isSubtask, subtasks }: SplitFacts, requested: number): string | null {
  if (isSubtask)
    return `It is a subtask itself and would be split into ${requested} more. How should it be done as one?`;
  const total = subtasks + requested;
  if (total <= MAX_SUBTASKS) return null;
  return `It would have ${total} subtasks, and at most ${MAX_SUBTASKS} are allowed. Which of them are needed?`;
}

/** The labels of a subtask that its epic has as well, without those that only the pipeline sets or that enqueue it. */
export const allowedLabels = (requested: readonly string[], epic: readonly string[]): string[] =>
  requested.filter((label) => epic.includes(label) && label !== ENQUEUE_LABEL && !isOutputLabel(label));
