/** The thirteen states of an issue, in the order in which a plain issue passes them (interface: Pipeline states). */
export const STATES = [
  'new',
  'analyzing',
  'planning',
  'ready-for-dev',
  'in-review',
  'changes-requested',
  'merge-pending',
  'waiting-for-subtasks',
  'dependency-blocked',
  'failure-blocked',
  'needs-clarification',
  'human-review-ready',
  'done',
] as const;

export type State = (typeof STATES)[number];

/** The states of an issue without obstacles, used by the funnel and by the analytics. */
export const SPINE = [
  'new',
  'analyzing',
  'planning',
  'ready-for-dev',
  'in-review',
  'merge-pending',
  'done',
] as const satisfies readonly State[];

/** The states of the figure In-flight. */
export const IN_FLIGHT_STATES = [
  'analyzing',
  'planning',
  'ready-for-dev',
  'in-review',
  'changes-requested',
  'merge-pending',
  'waiting-for-subtasks',
] as const satisfies readonly State[];

/** The states of the figure In Progress. */
export const IN_PROGRESS_STATES = [
  'dependency-blocked',
  'failure-blocked',
  'waiting-for-subtasks',
] as const satisfies readonly State[];

/** The states of the figure Blocked; `isBlockedState` excludes needs-clarification. */
export const BLOCKED_STATES = [
  'dependency-blocked',
  'failure-blocked',
  'needs-clarification',
] as const satisfies readonly State[];

/** States whose entry counts as a block for the KPI; a failure is another KPI. */
export const BLOCK_RATE_STATES = ['dependency-blocked', 'needs-clarification'] as const satisfies readonly State[];

/** States that wait for the pull request, so that its close, review or push is handled. */
export const isReviewable = (state: string): boolean =>
  state === 'in-review' || state === 'human-review-ready' || state === 'merge-pending';

/**
 * Returns the same as above, unless a plan waits for its approval there: then nothing about the pull request moves the
 * issue.
 */
export const awaitsPullRequest = (state: string, planStatus: string | null): boolean =>
  isReviewable(state) && !(state === 'human-review-ready' && planStatus === 'pending');

/** The bit of a state in a set of states. */
export const stateBit = (state: State): number => 1 << STATES.indexOf(state);

export const isState = (value: unknown): value is State => STATES.includes(value as State);

/** `is_blocked` is derived from the state and written in the same UPDATE. */
export const isBlockedState = (state: State): boolean => state === 'dependency-blocked' || state === 'failure-blocked';

/** States that store their origin in `blockedFromState` and return to it. */
export const remembersOrigin = (state: State): boolean => isBlockedState(state) || state === 'needs-clarification';
