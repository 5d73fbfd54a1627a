import type { ErrorClass } from '../error-classes.ts';
import type { State } from '../states.ts';
import type { TaskType } from '../task-types.ts';

/** One row of the issue list of surface A, without `timeInStateMs`, which depends on the time of the request. */
export interface IssueListItem {
  issueNumber: number;
  title: string;
  url: string;
  state: State;
  isBlocked: boolean;
  isPaused: boolean;
  blockReason: string | null;
  blockClassification: ErrorClass | null;
  stateEnteredAt: string | null;
  /** The latest status message of an agent. */
  currentStatus: string | null;
  activeTaskType: TaskType | null;
  /** The agent that is working on it; null while no worker has claimed its task. */
  assignedAgent: string | null;
  /** Its open pull request, else its last one. */
  prNumber: number | null;
  labels: string[];
  /** The epic it is a part of. */
  parentIssueNumber: number | null;
  /** Issues of its repo that it depends on, including those that are done. */
  dependsOn: number[];
  costUsd: number;
  createdAt: string;
  updatedAt: string;
}

/** Limits of stored items, in characters and entries. */
export const LIST_CAPS = { title: 256, status: 160, label: 100, labels: 20, dependsOn: 20 } as const;

/**
 * Maximum octets of the body in the covering index. A longer row would fail the index insert, and with it the whole
 * state change; such a body is stored outside of the index.
 */
export const MAX_INDEXED_OCTETS = 2_000;
