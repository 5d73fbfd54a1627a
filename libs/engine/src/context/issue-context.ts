import type { WorkflowSnapshot } from '@pipeline/domain';
import type {
  ClaimContextRow,
  IssueContextRow,
  IssueRow,
  PullRequestRow,
  RepoRow,
  RunRow,
  TaskRow,
  WorkerRow,
} from '@pipeline/store';

/** Names one issue of one tenant. */
export interface IssueKey {
  tenantId: number;
  issueId: number;
}

/** A valid claim: its run and its issue are locked until the transaction ends. */
export interface HeldClaim {
  run: RunRow;
  issue: IssueRow | undefined;
  /** Worker token of the worker; null = it was not recorded. */
  tokenId?: string | null;
  /** Locked as well, for use cases that end the claim. */
  worker?: WorkerRow | undefined;
  /** Read after all locks, for use cases that end the claim. */
  around?: ClaimContextRow;
}

/** The fields of a work task that the host and the API show. */
export type WorkTask = Pick<TaskRow, 'attempt' | 'max_attempts' | 'held'>;

/** A locked issue with all data that a decision about it depends on. */
export interface IssueContext {
  issue: IssueRow;
  repo: RepoRow;
  workflow: WorkflowSnapshot;
  /** The pipeline's own open pull request; never another person's. */
  pr: PullRequestRow | undefined;
  openBlockers: number;
  openDependencies: number;
  /** Setting `review.dismissStale` when the context was read. */
  dismissStale: boolean;
  ending: IssueContextRow['ending'];
}

/** The task of an issue, locked, and a worker that may still be working on a withdrawn one. */
export interface CurrentWork {
  task: TaskRow | undefined;
  lingering: IssueContextRow['lingering'];
}

/** An issue with its work, everything locked that a transaction about it changes. */
export interface OnIssue {
  subject: IssueContext;
  work: CurrentWork;
}

export interface OpenIssue extends OnIssue {
  /** True = its repo has an active workflow; otherwise the default one applies. */
  hasWorkflow: boolean;
}

/** The cause of a change, as recorded in events and transitions. */
export interface Actor {
  type: 'agent' | 'workflow-engine' | 'operator' | 'system';
  id: string | null;
  /** Agent of the outcome; null for people and loops. */
  agent: string | null;
  reason?: string | null;
  /** Links the changes of one bulk call. */
  bulkId?: string;
}

export const ENGINE: Actor = { type: 'workflow-engine', id: null, agent: null };
