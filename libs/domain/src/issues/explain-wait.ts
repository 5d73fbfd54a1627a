import { describeBlock } from '../blocks.ts';
import { namedChecks } from '../checks/checks.ts';
import type { ProjectionType } from '../outbox/projections.ts';
import { problemOfRepo, remedyForRepo } from '../repos/availability.ts';
import type { State } from '../states.ts';
import { inertText } from '../text/inert.ts';
import type { Wait, WaitKind, WhyFacts, WhyProjection, WhyTask } from './waits.ts';

export interface Explanation {
  /** One sentence for people. */
  explanation: string;
  waitingOn: Wait[];
  /** What would let it continue, in the order of its waits. */
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
  worker: (_facts, { ref }) => (ref === null ? 'Start a worker for this task type if none becomes free.' : ''),
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

const isPlanPending = ({ state, pendingPlan }: WhyFacts): boolean =>
  state === 'human-review-ready' && pendingPlan !== null;

function humanAdvice(facts: WhyFacts, { ref }: Wait): string {
  if (facts.repoUnavailable && ref === facts.repo) return `${remedyForRepo(facts.repoUnavailable.reason)}.`;
  if (facts.isPaused) return 'Resume the issue.';
  if (facts.blockers.some(({ id }) => id === ref)) return 'Resolve or dismiss the findings that block the merge.';
  if (facts.state === 'needs-clarification') return 'Answer in a comment on the issue.';
  if (isPlanPending(facts)) return APPROVE_PLAN;
  if (facts.state === 'human-review-ready') return 'Review the pull request: approve it, or request changes.';
  return describeBlock(facts.blockReason).remedy;
}

/** `2026-01-02 03:04 UTC`. */
const atMinute = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;

/** Text of agents and people inside a generated sentence. */
export const brief = (text: string): string => inertText(text, 200).replace(/\s+/g, ' ');

/**
 * Everything an issue waits for, most important first: what only a person can end, then its state, then its task and
 * the host.
 */
function findWaits(facts: WhyFacts): Wait[] {
  if (facts.state === 'done') return facts.projections.filter(({ status }) => status === 'failed').map(failedWrite);
  return [
    ...ofRepo(facts),
    ...pause(facts),
    ...facts.deadLetters.map(deadLetterWait),
    ...facts.projections.filter(({ status }) => status === 'failed').map(failedWrite),
    ...ofState(facts),
    ...(facts.task ? [ofTask(facts.task)] : []),
    ...facts.blockers.map(blocker),
    ...ofWrites(facts),
  ];
}

function ofRepo({ repo, repoUnavailable }: WhyFacts): Wait[] {
  if (!repoUnavailable) return [];
  const { reason, since } = repoUnavailable;
  return [{ kind: 'human', ref: repo, detail: `its repository, which ${problemOfRepo(reason)}`, since }];
}

function pause({ isPaused, pausedAt }: WhyFacts): Wait[] {
  const detail = 'a person to resume it, because it is paused';
  return isPaused ? [{ kind: 'human', ref: null, detail, since: pausedAt }] : [];
}

const deadLetterWait = ({ id, targetState, error, createdAt }: WhyFacts['deadLetters'][number]): Wait => ({
  kind: 'dead-letter',
  ref: id,
  detail: `a decision on its move to ${targetState}, which could not be made: ${brief(error)}`,
  since: createdAt,
});

const blocker = ({ id, title, createdAt }: WhyFacts['blockers'][number]): Wait => ({
  kind: 'human',
  ref: id,
  detail: `the blocking finding "${brief(title)}" to be resolved or dismissed`,
  since: createdAt,
});

function ofState(facts: WhyFacts): Wait[] {
  const { state, stateEnteredAt: since, prNumber, question } = facts;
  const ref = prNumber === null ? null : `#${prNumber}`;
  switch (state) {
    case 'needs-clarification': {
      const detail = `an answer to the question "${brief(question ?? 'What is to be done?')}"`;
      return [{ kind: 'human', ref: null, detail, since }];
    }
    case 'human-review-ready': {
      if (isPlanPending(facts))
        return [
          { kind: 'human', ref: null, detail: `a person to approve version ${facts.pendingPlan} of its plan`, since },
        ];
      const detail = ref ? `a person's review of pull request ${ref}` : 'a person to decide how to continue';
      return [{ kind: 'human', ref, detail, since }];
    }
    case 'dependency-blocked':
      return facts.dependencies.map(
        (on): Wait => ({
          kind: 'dependency',
          ref: on.ref,
          since: on.since,
          detail: `${on.ref} to be done, on which it depends`,
        }),
      );
    case 'waiting-for-subtasks':
      return facts.subtasks.map(
        (part): Wait => ({
          kind: 'subtask',
          ref: part.ref,
          since: part.since,
          detail: `its subtask ${part.ref} to be done`,
        }),
      );
    case 'failure-blocked':
      return [block(facts, ref)];
    case 'merge-pending':
      return facts.checks ? [ofChecks(facts.checks, ref)] : [];
    case 'in-review':
      return facts.lastTrigger === 'not-ready'
        ? [
            {
              kind: 'ci',
              ref,
              detail: `the checks of pull request ${ref ?? ''} to let it be merged`.replace('  ', ' '),
              since,
            },
          ]
        : [];
    default:
      return [];
  }
}

function ofChecks({ verdict, waitsFor, since }: NonNullable<WhyFacts['checks']>, ref: string | null): Wait {
  if (verdict === 'train') {
    const [front = null] = waitsFor;
    return { kind: 'merge', ref: front, detail: `${front}, which merges first`, since };
  }
  const pr = ref === null ? 'the pull request' : `pull request ${ref}`;
  if (verdict === 'queue') return { kind: 'merge', ref, detail: `the merge queue of the host to merge ${pr}`, since };
  if (verdict === 'missing') {
    return { kind: 'ci', ref, detail: `a check on ${pr}, or an operator to allow its merge without any`, since };
  }
  const names = brief(namedChecks(waitsFor));
  return { kind: 'ci', ref, detail: `${waitsFor.length === 1 ? 'the check' : 'the checks'} ${names} on ${pr}`, since };
}

/** A block that is lifted automatically, one that waits for a limit, and one that only a person can lift. */
function block(facts: WhyFacts, pr: string | null): Wait {
  const { blockReason, blockClassification, autoUnblockAt, stateEnteredAt: since } = facts;
  const { sentence } = describeBlock(blockReason);
  const because = `${sentence.charAt(0).toLowerCase()}${sentence.slice(1, -1)}`;
  if (autoUnblockAt !== null) {
    const detail = `its next try at ${atMinute(autoUnblockAt)}, because ${because}`;
    return { kind: 'cooldown', ref: null, detail, since };
  }
  if (blockReason === 'budget_exceeded')
    return { kind: 'budget', ref: null, detail: `more budget, because ${because}`, since };
  if (blockClassification === 'quota')
    return { kind: 'quota', ref: null, detail: `a quota, because ${because}`, since };
  if (blockReason === 'ci_timeout') {
    const detail = `the checks${pr ? ` of pull request ${pr}` : ''} to end, because they did not in time`;
    return { kind: 'ci', ref: pr, detail, since };
  }
  if (blockReason === 'ci_hard_failure') {
    return {
      kind: 'ci',
      ref: pr,
      detail: `green checks${pr ? ` on pull request ${pr}` : ''}, because they fail`,
      since,
    };
  }
  return { kind: 'human', ref: null, detail: `an operator to fix what blocks it: ${because}`, since };
}

function ofTask(task: WhyTask): Wait {
  const since = task.createdAt;
  const attempt = `attempt ${task.attempt + 1} of ${task.maxAttempts}`;
  const end = task.runAfter === null ? '' : ` at ${atMinute(task.runAfter)}`;
  if (task.status === 'claimed') {
    const detail = `worker ${task.claimedBy} to finish the ${task.type} task (${attempt})`;
    return { kind: 'worker', ref: task.claimedBy, detail, since: task.claimedAt };
  }
  switch (task.held) {
    case 'budget':
      return { kind: 'budget', ref: null, detail: `budget for its ${task.type} task`, since };
    case 'quota':
      return {
        kind: 'quota',
        ref: null,
        detail: `the quota that its ${task.type} task ran into, to be retried${end}`,
        since,
      };
    case 'backoff':
      return { kind: 'retry', ref: null, detail: `the next try of its ${task.type} task${end} (${attempt})`, since };
    case 'handover':
      return { kind: 'worker', ref: null, detail: 'the worker of its previous task to release it', since };
    case 'paused':
      return { kind: 'human', ref: null, detail: `a person to resume its ${task.type} task`, since };
    case null:
      return { kind: 'worker', ref: null, detail: `a free worker to claim its ${task.type} task (${attempt})`, since };
  }
}

const failedWrite = ({ id, type, error, createdAt }: WhyProjection): Wait => ({
  kind: 'projection',
  ref: String(id),
  detail: `${WRITE[type] ?? `the write ${type}`} on the host, which failed for good: ${brief(error ?? 'no reason was given')}`,
  since: createdAt,
});

/** Host writes that the issue waits for; other writes only display its state. */
const WRITE: Partial<Record<ProjectionType, string>> = {
  createPR: 'the opening of its pull request',
  mergePR: 'the merge',
  updateBranch: 'the update of its branch',
  deleteBranch: 'the removal of its old branch',
  createIssue: 'the making of a subtask',
  closeIssue: 'the closing of the issue',
};

function ofWrites({ projections, checks }: WhyFacts): Wait[] {
  return (
    projections
      .filter(({ status, type }) => status === 'pending' && WRITE[type] !== undefined)
      // It is not sent before the checks are green.
      .filter(({ type }) => checks === null || type !== 'mergePR')
      .map(
        ({ id, type, createdAt }): Wait => ({
          kind: type === 'mergePR' ? 'merge' : 'projection',
          ref: String(id),
          detail: `${WRITE[type]} on the host`,
          since: createdAt,
        }),
      )
  );
}
