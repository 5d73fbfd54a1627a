import { describeBlock } from '../blocks.ts';
import { remedyForRepo } from '../repos/availability.ts';
import type { State } from '../states.ts';
import { atMinute, findWaits, isPlanPending, neededWorker } from './find-waits.ts';
import type { Wait, WaitKind, WhyFacts } from './waits.ts';

export interface Explanation {
  /** One sentence for people. */
  explanation: string;
  waitingOn: Wait[];
  /** Actions that would let it continue, in the order of its waits. */
  recommendations: string[];
}

const STANDS: Record<State, string> = {
  new: 'has just come in',
  analyzing: 'is being analysed',
  planning: 'is being planned',
  'ready-for-dev': 'is ready for development',
  'in-review': 'is in review',
  'changes-requested': 'has changes to be made',
  'merge-pending': 'is approved',
  'waiting-for-subtasks': 'was split into subtasks',
  'dependency-blocked': 'is blocked by other issues',
  'failure-blocked': 'is blocked',
  'needs-clarification': 'has an open question',
  'human-review-ready': 'is ready for a person',
  done: 'is done',
};

/** Explains in words why an issue is where it is. Pure: equal facts give equal text. */
export function explainWait(facts: WhyFacts): Explanation {
  const waitingOn = findWaits(facts);
  const found = [...new Set(waitingOn.map((wait) => ADVICE[wait.kind](facts, wait)))].filter((text) => text !== '');
  const recommendations = waitingOn.length === 0 && facts.state !== 'done' ? [LOST] : found;
  return { explanation: sentence(facts, waitingOn), waitingOn, recommendations };
}

/** No rule of the pipeline leaves an issue without a wait; a reader of this should report it. */
const LOST = 'Retry the issue: no reason to wait is recorded.';

function sentence({ repo, issueNumber, state }: WhyFacts, [first, ...others]: readonly Wait[]): string {
  const stands = `${repo}#${issueNumber} ${STANDS[state]}`;
  if (!first) return state === 'done' ? `${stands}.` : `${stands}, and no reason to wait is recorded.`;
  const since = first.since === null ? '' : `, since ${atMinute(first.since)}`;
  const more = others.length === 0 ? '' : `, and for ${others.length} more ${others.length === 1 ? 'thing' : 'things'}`;
  return `${stands} and waits for ${first.detail}${since}${more}.`;
}

const ADVICE: Record<WaitKind, (facts: WhyFacts, wait: Wait) => string> = {
  worker: workerAdvice,
  dependency: (_facts, { ref }) => `Finish ${ref}, or unblock the issue to go on without it.`,
  subtask: (_facts, { ref }) => `Finish the subtask ${ref}, or cancel it.`,
  human: humanAdvice,
  ci: ciAdvice,
  merge: mergeAdvice,
  quota: () => 'Wait until the limit is reset, or raise it.',
  budget: () => 'Raise the budget, or wait for its next period.',
  projection: ({ projections }, { ref }) =>
    projections.some(({ id, status }) => String(id) === ref && status === 'failed')
      ? 'Fix the cause of the rejected host write, then retry the write, or discard it.'
      : '',
  cooldown: () => 'No action required: the retry is automatic. Unblock the issue to start it now.',
  retry: () => 'No action required: the retry is automatic. Retry the issue to start it now.',
  'dead-letter': () => 'Fix the cause of the error, then retry the dead letter, or resolve it and retry the issue.',
};

function workerAdvice({ repo, task }: WhyFacts, { ref }: Wait): string {
  if (ref !== null) return '';
  if (!task?.isWithoutWorker) return 'Start a worker for this task type if none becomes free.';
  return `Start ${neededWorker(task, repo)}, or resume one that is draining (docs/agents.md).`;
}

function mergeAdvice({ checks, isPaused }: WhyFacts, { ref }: Wait): string {
  if (checks?.verdict === 'queue')
    return 'No action required: the host tests the pull request and merges it in its turn.';
  if (checks?.verdict !== 'train') return 'No action required: the merge is requested from the host.';
  return isPaused
    ? ''
    : `No action required: the merge follows that of ${ref}. Pause the issue of ${ref} to let others go first.`;
}

function ciAdvice({ checks, blockReason }: WhyFacts): string {
  if (blockReason === 'ci_timeout') return describeBlock(blockReason).remedy;
  if (checks?.verdict === 'missing') {
    return 'Let CI run on pull requests, set checks: none for the repository, or allow the merge of this one without checks.';
  }
  if (checks) return 'No action required: the merge follows when the checks are green.';
  return 'Fix the failing checks of the pull request.';
}

const APPROVE_PLAN = 'Read the plan, then approve it, approve an edited version, or reject it with a reason.';

function humanAdvice(facts: WhyFacts, { ref }: Wait): string {
  if (facts.repoUnavailable && ref === facts.repo) return `${remedyForRepo(facts.repoUnavailable.reason)}.`;
  if (facts.isPaused) return 'Resume the issue.';
  if (facts.blockers.some(({ id }) => id === ref)) return 'Resolve or dismiss the findings that block the merge.';
  if (facts.state === 'needs-clarification') return 'Answer in a comment on the issue.';
  if (facts.state === 'merge-pending') return 'Mark the pull request as ready for review on the host.';
  if (isPlanPending(facts)) return APPROVE_PLAN;
  if (facts.state === 'human-review-ready')
    return facts.prNumber === null
      ? 'Decide how to continue: move the issue to another state, or cancel it.'
      : 'Review the pull request: approve it, or request changes.';
  return describeBlock(facts.blockReason).remedy;
}
