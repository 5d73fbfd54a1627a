import type { ChecksWait } from '../checks/checks.ts';
import type { ErrorClass } from '../error-classes.ts';
import type { ProjectionStatus, ProjectionType } from '../outbox/projections.ts';
import type { UnavailableReason } from '../repos/availability.ts';
import type { State } from '../states.ts';
import type { Hold, TaskType } from '../task-types.ts';

/** Kinds of waits of an issue (interface: the issue why record). */
export const WAIT_KINDS = [
  'worker',
  'dependency',
  'subtask',
  'human',
  'ci',
  'merge',
  'quota',
  'budget',
  'projection',
  'cooldown',
  'retry',
  'dead-letter',
] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/** One wait of an issue. `detail` completes "it waits for …". */
export interface Wait {
  kind: WaitKind;
  /** Subject of the wait: a worker, an issue, a pull request, a dead letter or finding by its id. */
  ref: string | null;
  detail: string;
  since: string | null;
}

/** The inputs of an issue's waits. Times are ISO 8601. */
export interface WhyFacts {
  /** Repo as spelt on the host, owner/name. */
  repo: string;
  /** Why the repository cannot be worked on; null = it can. */
  repoUnavailable: { reason: UnavailableReason; since: string } | null;
  issueNumber: number;
  state: State;
  stateEnteredAt: string;
  isPaused: boolean;
  pausedAt: string | null;
  blockReason: string | null;
  blockClassification: ErrorClass | null;
  question: string | null;
  /** Version of the plan that waits for the approval of a person. */
  pendingPlan: number | null;
  /** Time at which a transient block is lifted automatically. */
  autoUnblockAt: string | null;
  /** The open pull request. */
  prNumber: number | null;
  task: WhyTask | null;
  /** Open ones only. */
  dependencies: { ref: string; since: string }[];
  subtasks: { ref: string; since: string }[];
  /** Pending host writes, oldest first. */
  projections: WhyProjection[];
  deadLetters: { id: string; targetState: string; error: string; createdAt: string }[];
  /** Findings that prevent the merge. */
  blockers: { id: string; title: string; createdAt: string }[];
  /** Wait of an approved pull request before its merge. */
  checks: (Pick<ChecksWait, 'verdict' | 'waitsFor'> & { since: string }) | null;
  /** The cause of the current state. */
  lastTrigger: string | null;
}

export interface WhyTask {
  type: TaskType;
  status: 'pending' | 'claimed';
  held: Hold | null;
  /** Time at which its hold ends. */
  runAfter: string | null;
  /** Counts from 0. */
  attempt: number;
  maxAttempts: number;
  claimedBy: string | null;
  claimedAt: string | null;
  createdAt: string;
  /** The only agent that may do it; null = any. */
  agent: string | null;
  /** No worker that could claim it has been there for a while. */
  isWithoutWorker: boolean;
}

export interface WhyProjection {
  id: number;
  type: ProjectionType;
  status: Extract<ProjectionStatus, 'pending' | 'failed'>;
  error: string | null;
  createdAt: string;
}
