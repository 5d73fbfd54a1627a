import { describeBlock } from '../blocks.ts';
import { namedChecks } from '../checks/checks.ts';
import type { ProjectionType } from '../outbox/projections.ts';
import { problemOfRepo } from '../repos/availability.ts';
import { inertText } from '../text/inert.ts';
import type { Wait, WhyFacts, WhyProjection, WhyTask } from './waits.ts';

/**
 * Everything an issue waits for, most important first: what only a person can end, then its state, then its task and
 * the host.
 */
export function findWaits(facts: WhyFacts): Wait[] {
  if (facts.state === 'done') return facts.projections.filter(({ status }) => status === 'failed').map(failedWrite);
  return [
    ...ofRepo(facts),
    ...pause(facts),
    ...facts.deadLetters.map(deadLetterWait),
    ...facts.projections.filter(({ status }) => status === 'failed').map(failedWrite),
    ...ofState(facts),
    // Its task is paused with the issue.
    ...(facts.task && !(facts.isPaused && facts.task.held === 'paused') ? [ofTask(facts.task)] : []),
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
      // A task there is a retry: the block ends with its success.
      return facts.task === null ? [block(facts, ref)] : [];
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
  if (verdict === 'draft')
    return { kind: 'human', ref, detail: `a person to mark ${pr} as ready for review: it is a draft`, since };
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
      return {
        kind: 'worker',
        ref: null,
        detail: `${claimerOf(task)} to claim its ${task.type} task (${attempt})`,
        since,
      };
  }
}

const claimerOf = (task: WhyTask): string =>
  task.isWithoutWorker ? `${neededWorker(task, 'this repository')} (none is online)` : 'a free worker';

/** The worker that a task needs. */
export const neededWorker = ({ type, agent }: WhyTask, repo: string): string =>
  `a worker that takes ${type} tasks of ${repo}${agent === null ? '' : ` with the agent ${agent}`}`;

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

/** Returns whether a plan waits for a person's answer. */
export const isPlanPending = ({ state, pendingPlan }: WhyFacts): boolean =>
  state === 'human-review-ready' && pendingPlan !== null;

/** `2026-01-02 03:04 UTC`. */
export const atMinute = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;

/** Text of agents and people inside a generated sentence. */
export const brief = (text: string): string => inertText(text, 200).replace(/\s+/g, ' ');
