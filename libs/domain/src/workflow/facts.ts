import type { State } from '../states.ts';
import type { Outcome } from './outcomes.ts';
import type { Trigger } from './workflow.ts';

/** A commit that was approved. The review of a person may outlive a push (setting `review.dismissStale`). */
export interface Approval {
  sha: string;
  source: 'agent' | 'person';
}

/** The pipeline's own open pull request of an issue, as far as decisions depend on it. */
export interface PullRequestFacts {
  number: number;
  /** The head that was seen last. */
  headSha: string;
  headRef: string;
  /** The approval that was given last, whatever was pushed since; null when there was none or it was taken back. */
  approval: Approval | null;
}

/** What a decision depends on, and nothing else of the issue. */
export interface IssueFacts {
  number: number;
  state: State;
  blockedFromState: State | null;
  blockReason: string | null;
  /** The pipeline's own open pull request of the issue, if any. */
  pr: PullRequestFacts | null;
  /** Setting `review.dismissStale`: a push ends the approval of a person too. */
  dismissStale: boolean;
  /** Open or accepted findings that block progress. */
  openBlockers: number;
  defaultBranch: string;
}

/** Why an issue may move. `target` is named by operators only, `blockReason` by a stop. */
export interface Cause {
  trigger: Trigger;
  outcome?: Outcome;
  target?: State;
  blockReason?: string;
  /** The commit that was approved: the head that the task of a reviewer named, or the commit of a person's review. */
  headSha?: string | null;
}
