import { describeBlock } from '../blocks.ts';
import type { ChecksWait } from '../checks/checks.ts';
import type { BudgetScope } from '../costs/budgets.ts';
import type { ErrorClass } from '../error-classes.ts';
import { SPINE, type State } from '../states.ts';
import type { Hold } from '../task-types.ts';
import { fenced, inertText, quoted } from '../text/inert.ts';

/** The input of the status comment; contains nothing that changes without the issue changing. */
export interface StatusCommentInput {
  /** Slug of the issue's repo, owner/name. */
  repo: string;
  issueNumber: number;
  state: State;
  /** ISO 8601; if given, the comment shows since when the state holds. */
  stateEnteredAt?: string | null;
  isPaused: boolean;
  isBlocked: boolean;
  blockReason: string | null;
  blockClassification: ErrorClass | null;
  blockedFromState: State | null;
  /** The hold of the next task; budget and quota holds are shown as stops. */
  hold?: Hold | null;
  /** The scope of the budget that holds the task. */
  usedUp?: BudgetScope;
  question: string | null;
  /** The plan that waits for the approval of a person. */
  pendingPlan?: { version: number; text: string } | null;
  lastError: string | null;
  prNumber: number | null;
  /** Open issues that it waits for, `#N` or `owner/name#N`. */
  dependsOn: string[];
  subtasks: { ref: string; done: boolean }[];
  /** Attempt of the current task, counted from 0. */
  attempt: number;
  maxAttempts: number;
  /** Wait of an approved pull request before its merge. */
  checks?: Pick<ChecksWait, 'verdict' | 'waitsFor'> | null;
  autoUnblock: { count: number; max: number; nextAt: string | null };
  /** Set when title or body on the host differ from the accepted ones; `by` null = unknown. */
  textChange?: { by: string | null } | null;
}

const STEP: Record<(typeof SPINE)[number], string> = {
  new: 'Queued',
  analyzing: 'Analysis',
  planning: 'Plan',
  'ready-for-dev': 'Development',
  'in-review': 'Review',
  'merge-pending': 'Merge',
  done: 'Done',
};

/** The step of the main path that a side state belongs to. */
const BESIDE: Partial<Record<State, (typeof SPINE)[number]>> = {
  'changes-requested': 'ready-for-dev',
  'human-review-ready': 'in-review',
  'waiting-for-subtasks': 'planning',
  'dependency-blocked': 'planning',
  'failure-blocked': 'planning',
  'needs-clarification': 'planning',
};

const HEADLINE: Record<State, string> = {
  new: 'Waiting to be processed',
  analyzing: 'Waiting for an agent to analyse the issue',
  planning: 'Waiting for an agent to plan the work',
  'ready-for-dev': 'Waiting for an agent to make the change',
  'in-review': 'Waiting for a review of the change',
  'changes-requested': 'Changes were requested',
  'merge-pending': 'The change is approved and waits for the merge',
  'waiting-for-subtasks': 'Waiting for the subtasks',
  'dependency-blocked': 'Waiting for other issues',
  'failure-blocked': 'Blocked: attention required',
  'needs-clarification': 'Waiting for an answer to a question',
  'human-review-ready': 'Waiting for a person’s review',
  done: 'Done',
};

const MAX_LISTED = 50;

/**
 * The Markdown of the single status comment: the state of the issue, what it waits for and, at a stop, what would
 * resolve it. The same input gives the identical text.
 */
export function statusComment(input: StatusCommentInput): string {
  const headline = input.isPaused && input.state !== 'done' ? 'Paused' : headlineOf(input);
  const parts = [
    `**${headline}**${since(input)}`,
    progress(input),
    ...pauseOrHold(input),
    ...waiting(input),
    ...textChange(input),
  ];
  if (input.state !== 'done') parts.push(commands(input));
  return parts.filter((part) => part !== '').join('\n\n');
}

const headlineOf = (input: StatusCommentInput): string =>
  isPlanPending(input) ? 'Waiting for the approval of the plan' : HEADLINE[input.state];

const isPlanPending = ({ state, pendingPlan }: StatusCommentInput): boolean =>
  state === 'human-review-ready' && pendingPlan != null;

function since({ stateEnteredAt }: StatusCommentInput): string {
  return stateEnteredAt ? ` · since ${minute(stateEnteredAt)}` : '';
}

const minute = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;

function textChange({ textChange: change }: StatusCommentInput): string[] {
  if (!change) return [];
  const who = change.by === null ? '' : ` by ${inertText(change.by, 100).replace(/\s+/g, ' ')}`;
  return [
    `**The text was changed since it was enqueued**${who}. Agents work on the text that was ` +
      'enqueued. A person who adds the label `svc:enqueue` again, or an operator, accepts the new text.',
  ];
}

function stepOf(state: State): (typeof SPINE)[number] {
  return BESIDE[state] ?? (state as (typeof SPINE)[number]);
}

/** `✓ Analysis → **Plan** → Development → …`; a stop is shown at the step it came from. */
function progress(input: StatusCommentInput): string {
  const { state, blockedFromState, prNumber } = input;
  const current = SPINE.indexOf(isPlanPending(input) ? 'planning' : stepOf(blockedFromState ?? state));
  const line = SPINE.map((step, index) => {
    if (index < current || state === 'done') return `✓ ${STEP[step]}`;
    return index === current ? `**${STEP[step]}**` : STEP[step];
  }).join(' → ');
  return prNumber === null ? line : `${line}\n\nPull request: #${prNumber}`;
}

const USED_UP: Record<BudgetScope, string> = {
  issue:
    'The budget of this issue is exhausted.\n\n**Remedy:** An operator raises the budget per issue; the work then continues automatically.',
  day: 'Today’s budget is exhausted.\n\n**Remedy:** The work continues automatically at midnight UTC, or when an operator raises the daily budget.',
};

function pauseOrHold({ state, isPaused, hold, usedUp }: StatusCommentInput): string[] {
  if (state === 'done') return [];
  if (isPaused) return ['No new work starts on this issue until it is resumed with `/svc:resume`.'];
  if (hold === 'budget') return [usedUp ? USED_UP[usedUp] : wordsFor('budget_exceeded')];
  if (hold === 'quota') return [wordsFor('quota_exceeded')];
  return [];
}

function wordsFor(reason: string | null): string {
  const { sentence, remedy } = describeBlock(reason);
  return `${sentence}\n\n**Remedy:** ${remedy}`;
}

/** Details of the state beyond its headline. */
function waiting(input: StatusCommentInput): string[] {
  switch (input.state) {
    case 'failure-blocked':
      return failure(input);
    case 'dependency-blocked':
      return [
        `It depends on:\n${list(input, input.dependsOn)}`,
        'The issue continues automatically when they are done. `/svc:unblock` continues without them.',
      ];
    case 'needs-clarification':
      return [
        quoted(input.question ?? 'The agent did not state a question.', 6_000),
        'Answer in a comment below. Answers of the author of the issue and of people with write access count.',
      ];
    case 'human-review-ready':
      if (input.pendingPlan) return planToApprove(input.pendingPlan);
      return [
        input.prNumber === null
          ? 'There is no pull request to review; a person has to decide how to continue.'
          : `Review #${input.prNumber}: an approval starts the merge, requested changes return the issue to the agent.`,
      ];
    case 'waiting-for-subtasks':
      return [`The issue was split into subtasks; it is done when they are done:\n${checklist(input)}`];
    case 'merge-pending':
      return [...checksOf(input), ...attempts(input)];
    case 'done':
      return [];
    default:
      return attempts(input);
  }
}

/** Number of characters of a plan in the comment; the dashboard shows all of it. */
const MAX_SHOWN_PLAN = 20_000;

function planToApprove({ version, text }: { version: number; text: string }): string[] {
  const isCut = Array.from(text).length > MAX_SHOWN_PLAN;
  return [
    `Version ${version} of the plan${isCut ? ', of which the dashboard shows the rest' : ''}:`,
    quoted(text, MAX_SHOWN_PLAN),
    `Development begins when a person with write access approves it. As a comment:\n\n` +
      `- \`/approve-plan v${version}\` approves it\n` +
      `- \`/edit-plan v${version}\`, and the whole text of the plan on the lines below, approves that text instead\n` +
      `- \`/reject-plan v${version} REASON\` returns it to the planner with the reason`,
  ];
}

function checksOf({ checks }: StatusCommentInput): string[] {
  if (!checks) return [];
  if (checks.verdict === 'queue')
    return ['It is in the merge queue of the host, which tests and merges it in its turn.'];
  if (checks.verdict === 'draft')
    return ['Its pull request is a draft: it is merged when a person marks it as ready for review.'];
  if (checks.verdict === 'missing') {
    return ['No check has run on the pull request. It is merged when one is green, or when an operator allows it.'];
  }
  const names = checks.waitsFor.slice(0, MAX_LISTED).map((name) => `- ${inertText(name, 250).replace(/\s+/g, ' ')}`);
  return [`It waits for these checks:\n${[...names, ...more(checks.waitsFor.length)].join('\n')}`];
}

function failure(input: StatusCommentInput): string[] {
  const from = input.blockedFromState ? ` It occurred in the step ${STEP[stepOf(input.blockedFromState)]}.` : '';
  const { sentence, remedy } = describeBlock(input.blockReason);
  return [
    `${sentence}${from}`,
    lastError(input),
    `**Remedy:** ${remedy}`,
    automaticUnblock(input),
    '`/svc:unblock` removes the block and continues from the blocked step; `/svc:retry` repeats the failed step and removes the block when it succeeds.',
  ];
}

function automaticUnblock({ blockClassification, autoUnblock }: StatusCommentInput): string {
  const { count, max, nextAt } = autoUnblock;
  if (nextAt && blockClassification === 'quota') return `It is retried automatically at ${minute(nextAt)}.`;
  if (nextAt) return `It is unblocked automatically at ${minute(nextAt)} (${count + 1} of ${max}).`;
  if (blockClassification !== 'transient' || count === 0 || count < max) return '';
  return `It was unblocked automatically ${count} ${count === 1 ? 'time' : 'times'}; now a person has to act.`;
}

function attempts(input: StatusCommentInput): string[] {
  if (input.attempt === 0) return [];
  return [`Attempt ${input.attempt + 1} of ${input.maxAttempts}. The previous attempt failed:`, lastError(input)];
}

const lastError = ({ lastError: text }: StatusCommentInput): string => (text?.trim() ? fenced(text, 1_000) : '');

/** References to the issue's own repo use the short form. */
function reference({ repo }: StatusCommentInput, ref: string): string {
  const home = `${repo}#`;
  const own = ref.toLowerCase().startsWith(home.toLowerCase());
  return inertText(own ? ref.slice(repo.length) : ref, 250).replace(/\s+/g, ' ');
}

function list(input: StatusCommentInput, refs: readonly string[]): string {
  const lines = refs.slice(0, MAX_LISTED).map((ref) => `- ${reference(input, ref)}`);
  return [...lines, ...more(refs.length)].join('\n');
}

function checklist(input: StatusCommentInput): string {
  const lines = input.subtasks
    .slice(0, MAX_LISTED)
    .map(({ ref, done }) => `- [${done ? 'x' : ' '}] ${reference(input, ref)}`);
  return [...lines, ...more(input.subtasks.length)].join('\n');
}

const more = (count: number): string[] => (count > MAX_LISTED ? [`- and ${count - MAX_LISTED} more`] : []);

function commands({ isPaused, state }: StatusCommentInput): string {
  const known = [isPaused ? '/svc:resume' : '/svc:pause', '/svc:retry'];
  if (state === 'failure-blocked' || state === 'dependency-blocked') known.push('/svc:unblock');
  known.push('/svc:reimplement', '/svc:cancel');
  return `<sub>Commands for people with write access, as a comment: ${known.map((name) => `\`${name}\``).join(' ')}</sub>`;
}
