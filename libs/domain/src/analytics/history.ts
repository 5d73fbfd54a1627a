import type { State } from '../states.ts';
import type { TaskType } from '../task-types.ts';
import type { TrackTimes } from '../tracks/track.ts';
import type { WorkerPeriodKind } from '../workers/status.ts';
import type { Trigger } from '../workflow/workflow.ts';

/** Milliseconds since 1970. */
export type Ms = number;

/** Plain facts of a pipeline, or of a part of it, as input of every metric. Money is USD. */
export interface History {
  issues: readonly IssueFact[];
  /** In chronological order. */
  transitions: readonly TransitionFact[];
  pullRequests: readonly PullRequestFact[];
  costs: readonly CostFact[];
  invocations: readonly InvocationFact[];
  runs: readonly RunFact[];
  /** Live tasks. */
  tasks: readonly TaskFact[];
  projections: readonly ProjectionFact[];
  deadLetters: readonly DeadLetterFact[];
  workers: readonly WorkerFact[];
  workerPeriods: readonly WorkerPeriodFact[];
  tracks: readonly TrackTimes[];
  retrospectives: readonly RetrospectiveFact[];
  edges: readonly EdgeFact[];
  siIssues: readonly SiIssueFact[];
  /** Numbers of the issues that are open on the host. */
  openOnHost: readonly number[];
  /** Warning limits by state, in minutes. */
  warnAfterMinutes: Readonly<Partial<Record<State, number>>>;
}

export interface IssueFact {
  id: number;
  number: number;
  state: State;
  isBlocked: boolean;
  isPaused: boolean;
  pausedAt: Ms | null;
  labels: readonly string[];
  /** Time of creation on the host. */
  createdAt: Ms;
  /** Time of admission. */
  enteredAt: Ms;
  stateEnteredAt: Ms;
}

export interface TransitionFact {
  issueId: number;
  from: State | null;
  to: State;
  trigger: Trigger;
  at: Ms;
}

export interface PullRequestFact {
  issueId: number | null;
  openedAt: Ms;
  mergedAt: Ms | null;
  isReverted: boolean;
  agentAuthored: boolean;
}

interface CostFact {
  issueId: number | null;
  model: string;
  usd: number;
  at: Ms;
}

export interface InvocationFact {
  issueId: number | null;
  model: string;
  turns: number;
  stopReason: 'completed' | 'max_turns' | 'no_progress' | 'error';
  /** When its run was claimed. */
  at: Ms;
}

export interface RunFact {
  repoId: number;
  taskType: TaskType;
  agent: string;
  /** The same for all attempts of one task. */
  workId: string;
  attempt: number;
  /** Whether it ended with an outcome. */
  isCompleted: boolean;
  claimedAt: Ms;
  finishedAt: Ms | null;
}

export interface TaskFact {
  repoId: number;
  agent: string;
  status: 'pending' | 'claimed';
  createdAt: Ms;
}

interface ProjectionFact {
  issueNumber: number;
  status: 'pending' | 'failed' | 'complete' | 'discarded';
}

interface DeadLetterFact {
  issueId: number;
  at: Ms;
  isResolved: boolean;
}

interface WorkerFact {
  lastHeartbeatAt: Ms | null;
  hasLeft: boolean;
}

interface WorkerPeriodFact {
  kind: WorkerPeriodKind;
  from: Ms;
  to: Ms | null;
}

export interface RetrospectiveFact {
  plannedFiles: readonly string[] | null;
  actualFiles: readonly string[] | null;
  outcome: string | null;
  at: Ms;
}

export interface EdgeFact {
  id: number;
  kind: 'depends_on' | 'subtask';
  child: number;
  parent: number;
  isActive: boolean;
}

interface SiIssueFact {
  number: number;
  completedAt: Ms | null;
}
