import type { State } from '../states.ts';
import type { Outcome } from './outcomes.ts';
import type { PlanStatus } from './plan-approval.ts';
import type { Trigger } from './workflow.ts';

/** An approved commit. The approval of a person may outlive a push (setting `review.dismissStale`). */
export interface Approval {
  sha: string;
  source: 'agent' | 'person';
}

/** The parts of an issue's own open pull request that decisions depend on. */
export interface PullRequestFacts {
  number: number;
  /** The last known head. */
  headSha: string;
  headRef: string;
  /** The last approval, whatever was pushed since; null when there was none or it was revoked. */
  approval: Approval | null;
}

/** All inputs of a decision about an issue. */
export interface IssueFacts {
  number: number;
  state: State;
  blockedFromState: State | null;
  blockReason: string | null;
  /** The pipeline's own open pull request of the issue, if any. */
  pr: PullRequestFacts | null;
  /** Setting `review.dismissStale`: a push also revokes the approval of a person. */
  dismissStale: boolean;
  /** Open or accepted findings that block progress. */
  openBlockers: number;
  /** The status of its latest plan; null = plans of its workflow need no approval. */
  planStatus: PlanStatus | null;
  defaultBranch: string;
}

/** The cause of a transition. Only operators set `target`, only a stop sets `blockReason`. */
export interface Cause {
  trigger: Trigger;
  outcome?: Outcome;
  target?: State;
  blockReason?: string;
  /** The approved commit: the head in the reviewer's task, or the commit of a person's review. */
  headSha?: string | null;
}
