import type { ProjectionAction } from '../outbox/projections.ts';
import { isBlockedState, remembersOrigin, type State } from '../states.ts';
import type { WorkTaskType } from '../task-types.ts';
import { askedOfHost, hasOwnPullRequest, reviewStatus, undone } from './asked-of-host.ts';
import type { Approval, Cause, IssueFacts } from './facts.ts';
import { restartState } from './plan-approval.ts';
import { mayDepend, type Trigger, taskTypeOf, validTargets, type WorkflowSnapshot } from './workflow.ts';

type Facts = Pick<IssueFacts, 'pr' | 'dismissStale'>;

export interface Decision {
  kind: 'move' | 'stay';
  from: State;
  to: State;
  trigger: Trigger;
  isBlocked: boolean;
  blockReason: string | null;
  blockedFromState: State | null;
  /** Also null if the task waits for the host: the review of a pull request that is not opened yet. */
  nextTask: WorkTaskType | null;
  /** Host writes of the outcome itself; labels and the status comment follow from the state. */
  projections: ProjectionAction[];
  /** The approval that the transition records for the head of the pull request; null = it changes no approval. */
  approval: Approval | null;
}

/** A transition that cannot be made; the engine records it as a dead letter. */
export interface Refusal {
  kind: 'refused';
  targetState: string;
  reason: string;
}

/** Host events, cancellation and the answer to a plan bypass the workflow's edges. */
const FREE: Partial<Record<Trigger, State>> = {
  cancelled: 'done',
  'host-merged': 'done',
  'host-closed': 'done',
  reopened: 'new',
  'plan-approved': 'ready-for-dev',
  'plan-rejected': 'planning',
  'pr-closed': 'failure-blocked',
  'head-moved': 'in-review',
  behind: 'merge-pending',
  'checks-failed': 'changes-requested',
  'review-dismissed': 'human-review-ready',
};

/**
 * Decides where an issue goes and what follows from it. A pure function. A retry that runs in failure-blocked is
 * decided from the state that failed.
 */
export function decide(workflow: WorkflowSnapshot, issue: IssueFacts, reported: Cause): Decision | Refusal {
  const origin =
    issue.state === 'failure-blocked' && reported.outcome ? (issue.blockedFromState ?? issue.state) : issue.state;
  const isStale = isAboutOtherCommit(issue, reported) && hasWorkOf(workflow, origin, reported);
  const cause: Cause = isStale ? { trigger: 'head-moved' } : reported;
  const target = targetOf(workflow, issue, origin, cause);
  if (typeof target !== 'string') return target;
  if (!workflow.states.some((row) => row.name === target)) {
    return {
      kind: 'refused',
      targetState: target,
      reason: `state ${target} is unknown to workflow version ${workflow.version}`,
    };
  }
  const waitsForPr = cause.outcome?.outcome === 'submitted' && !hasOwnPullRequest(issue);
  const waitsForMerge = cause.trigger === 'mergeable' && !isMergeRefused(issue, cause);
  const waitsForBranch = cause.trigger === 'reimplement' && issue.pr !== null && target === 'ready-for-dev';
  const approval = approvalBy(issue, cause, target);
  return {
    kind: target === issue.state ? 'stay' : 'move',
    from: issue.state,
    to: target,
    trigger: cause.trigger,
    isBlocked: isBlockedState(target),
    blockReason: blockReasonIn(target, issue, cause),
    blockedFromState: originRemembered(target, origin, issue),
    nextTask: waitsForPr || waitsForMerge || waitsForBranch ? null : taskTypeOf(workflow, target),
    projections: [
      ...(cause.outcome && !isMergeRefused(issue, cause)
        ? askedOfHost(issue, cause, approvedHead(issue))
        : undone(issue, cause)),
      ...reviewStatus(issue, cause, { approval, target }),
    ],
    approval,
  };
}

/** Returns whether an outcome belongs to the task of that state: one of another task must not move the issue. */
const hasWorkOf = (workflow: WorkflowSnapshot, state: State, { outcome }: Cause): boolean =>
  taskTypeOf(workflow, state) === (outcome?.outcome === 'mergeable' ? 'merge' : 'review');

function targetOf(workflow: WorkflowSnapshot, issue: IssueFacts, origin: State, cause: Cause): State | Refusal {
  const free = FREE[cause.trigger];
  if (free) return cause.trigger === 'head-moved' ? stateAfterPush(issue, origin) : free;
  if (cause.trigger === 'reimplement') return restartState(issue.planStatus);
  if (cause.trigger === 'operator') return operatorTarget(workflow, issue.state, cause.target);
  const merging = mergeTarget(workflow, issue, origin, cause);
  if (merging) return merging;
  if (isStaleReview(issue, cause)) return STALE_REVIEW;
  // A retry that fails again leaves the issue in the state of its first failure.
  if (cause.trigger === 'exhausted' && issue.state === 'failure-blocked') return issue.state;
  const trigger = triggerIn(issue, cause);
  const targets = workflow.edges
    .filter((edge) => edge.from === origin && edge.trigger === trigger)
    .map((edge) => edge.to);
  const [first] = targets;
  if (first === undefined) return noEdge(origin, trigger, cause.target);
  if (!returnsToOrigin(trigger)) return first;
  const back = issue.blockedFromState;
  if (back && targets.includes(back)) return back;
  return targets.includes('planning') ? 'planning' : first;
}

/** The state in which an issue waits for the merge on the host; null = the edges decide. */
function mergeTarget(workflow: WorkflowSnapshot, issue: IssueFacts, origin: State, cause: Cause) {
  if (cause.trigger !== 'mergeable') return null;
  if (!issue.pr) return NOTHING_TO_MERGE;
  if (!hasWorkOf(workflow, origin, cause)) return noEdge(origin, cause.trigger);
  return isMergeRefused(issue, cause) ? null : origin;
}

const noEdge = (origin: State, trigger: Trigger, target?: State): Refusal => ({
  kind: 'refused',
  targetState: target ?? trigger,
  reason: `no edge leaves ${origin} on ${trigger}`,
});

const STALE_REVIEW: Refusal = {
  kind: 'refused',
  targetState: 'merge-pending',
  reason: 'the approval was given for a commit that is not the head of the pull request',
};

/** A finding that blocks progress prevents the merge, however the issue reached merge-pending. */
const isMergeRefused = (issue: IssueFacts, { trigger }: Cause): boolean =>
  trigger === 'mergeable' && issue.openBlockers > 0;

/** Such a finding redirects an approval, and a merge, to a person. */
function triggerIn(issue: IssueFacts, cause: Cause): Trigger {
  if (isMergeRefused(issue, cause)) return 'protected';
  return cause.trigger === 'approved' && issue.openBlockers > 0 ? 'needs-human' : cause.trigger;
}

/** The pull request was closed, or never opened: the issue would wait for its merge permanently. */
const NOTHING_TO_MERGE: Refusal = {
  kind: 'refused',
  targetState: 'done',
  reason: 'the issue has no open pull request to merge; reopen it and retry, or reimplement the issue',
};

/** A person's decision, or the end of a wait: it does not start another wait. */
const NOT_HELD: readonly Trigger[] = ['operator', 'reimplement', 'unblocked', 'depends'];

/**
 * Returns whether the issue leaves the decided state immediately for dependency-blocked, because its task would start
 * while the issue has open dependencies. Tasks past that point continue.
 */
export const isHeldBack = (workflow: WorkflowSnapshot, decision: Decision, openDependencies: number): boolean =>
  openDependencies > 0 &&
  decision.kind === 'move' &&
  !NOT_HELD.includes(decision.trigger) &&
  mayDepend(workflow, decision.to);

const returnsToOrigin = (trigger: Trigger): boolean =>
  trigger === 'clarified' || trigger === 'unblocked' || trigger === 'dependencies-done';

function operatorTarget(workflow: WorkflowSnapshot, from: State, target: State | undefined): State | Refusal {
  const valid = validTargets(workflow, from);
  if (target && valid.includes(target)) return target;
  return {
    kind: 'refused',
    targetState: String(target),
    reason: `valid targets from ${from}: ${valid.join(', ') || 'none'}`,
  };
}

function blockReasonIn(target: State, issue: IssueFacts, cause: Cause): string | null {
  if (target === 'dependency-blocked') return cause.blockReason ?? 'dependency_open';
  if (target !== 'failure-blocked') return null;
  if (cause.trigger === 'pr-closed') return 'pr_closed';
  return cause.blockReason ?? issue.blockReason ?? 'unknown';
}

/** A second stop keeps the first origin, so that the way back never leads into another stop. */
function originRemembered(target: State, origin: State, issue: IssueFacts): State | null {
  if (!remembersOrigin(target)) return null;
  return remembersOrigin(origin) ? issue.blockedFromState : origin;
}

/** Returns whether the approval also applies to later pushes. */
const outlivesPushes = ({ pr, dismissStale }: Facts): boolean => pr?.approval?.source === 'person' && !dismissStale;

/** The one commit of the pull request that may be merged; null = none. */
function approvedHead({ pr, dismissStale }: Facts): string | null {
  const isApproved = outlivesPushes({ pr, dismissStale }) || pr?.approval?.sha === pr?.headSha;
  return pr && isApproved ? pr.headSha : null;
}

/**
 * Returns whether an outcome is about a commit that is not the head of the pull request, so that it does not apply to
 * the head.
 */
function isAboutOtherCommit(issue: Facts, { outcome, headSha }: Cause): boolean {
  if (!issue.pr) return false;
  if (outcome?.outcome === 'approved') return headSha !== issue.pr.headSha;
  if (outcome?.outcome !== 'mergeable') return false;
  // The merge names the full approved commit, so an abbreviation by the worker is harmless.
  return !approvedHead(issue)?.startsWith(outcome.result.headSha);
}

/** Returns whether a person's approval is for a commit that is not the head, while such approvals do not count. */
export const isStaleReview = ({ pr, dismissStale }: Facts, { trigger, headSha }: Cause): boolean =>
  trigger === 'review-approved' && pr !== null && dismissStale && headSha !== pr.headSha;

/** A new head needs a new review, unless an approval that outlives pushes waits for its merge. */
const stateAfterPush = (issue: Facts, origin: State): State =>
  origin === 'merge-pending' && outlivesPushes(issue) ? origin : 'in-review';

/**
 * The approval that a transition to merge-pending records; null = it changes no approval. An operator who moves an
 * issue there approves the head known at that moment.
 */
function approvalBy({ pr }: Facts, { trigger, headSha }: Cause, target: State): Approval | null {
  if (!pr || target !== 'merge-pending') return null;
  if (trigger === 'approved') return { sha: pr.headSha, source: 'agent' };
  if (trigger === 'review-approved') return { sha: headSha ?? pr.headSha, source: 'person' };
  return trigger === 'operator' ? { sha: pr.headSha, source: 'person' } : null;
}
