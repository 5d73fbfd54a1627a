import { describe, expect, test } from '@jest/globals';
import { explainWait } from './explain-wait.ts';
import { WAIT_KINDS, type WaitKind, type WhyFacts, type WhyTask } from './waits.ts';

const AT = '2026-01-02T03:04:05.678Z';
const LATER = '2026-01-02T03:20:00.000Z';

const facts = (over: Partial<WhyFacts> = {}): WhyFacts => ({
  repo: 'acme/shop',
  issueNumber: 7,
  state: 'in-review',
  stateEnteredAt: AT,
  isPaused: false,
  pausedAt: null,
  blockReason: null,
  blockClassification: null,
  question: null,
  pendingPlan: null,
  autoUnblockAt: null,
  repoUnavailable: null,
  prNumber: 9,
  task: null,
  dependencies: [],
  subtasks: [],
  projections: [],
  deadLetters: [],
  blockers: [],
  checks: null,
  lastTrigger: null,
  ...over,
});

const task = (over: Partial<WhyTask> = {}): WhyTask => ({
  type: 'review',
  status: 'pending',
  held: null,
  runAfter: null,
  attempt: 0,
  maxAttempts: 3,
  claimedBy: null,
  claimedAt: null,
  createdAt: AT,
  agent: null,
  isWithoutWorker: false,
  ...over,
});

const write = (type: WhyFacts['projections'][number]['type'], error: string | null = null) => ({
  id: 5,
  type,
  status: error === null ? ('pending' as const) : ('failed' as const),
  error,
  createdAt: AT,
});

/** Facts, the expected kinds of waits, and the sentence after the name of the issue. */
const CASES: [string, Partial<WhyFacts>, WaitKind[], string][] = [
  [
    'no worker is free',
    { task: task() },
    ['worker'],
    'is in review and waits for a free worker to claim its review task (attempt 1 of 3), since 2026-01-02 03:04 UTC.',
  ],
  [
    'no worker is online',
    { task: task({ isWithoutWorker: true }) },
    ['worker'],
    'is in review and waits for a worker that takes review tasks of this repository (none is online) to claim its review task (attempt 1 of 3), since 2026-01-02 03:04 UTC.',
  ],
  [
    'no worker with its agent is online',
    { task: task({ isWithoutWorker: true, agent: 'codex' }) },
    ['worker'],
    'is in review and waits for a worker that takes review tasks of this repository with the agent codex (none is online) to claim its review task (attempt 1 of 3), since 2026-01-02 03:04 UTC.',
  ],
  [
    'a worker is at it',
    { task: task({ status: 'claimed', claimedBy: 'wkr_1', claimedAt: LATER, attempt: 1 }) },
    ['worker'],
    'is in review and waits for worker wkr_1 to finish the review task (attempt 2 of 3), since 2026-01-02 03:20 UTC.',
  ],
  [
    'the former worker has not let go',
    { task: task({ held: 'handover' }) },
    ['worker'],
    'is in review and waits for the worker of its previous task to release it, since 2026-01-02 03:04 UTC.',
  ],
  [
    'other issues are open',
    {
      state: 'dependency-blocked',
      dependencies: [
        { ref: '#3', since: AT },
        { ref: 'acme/lib#4', since: AT },
      ],
    },
    ['dependency', 'dependency'],
    'is blocked by other issues and waits for #3 to be done, on which it depends, since 2026-01-02 03:04 UTC, and for 1 more thing.',
  ],
  [
    'subtasks are open',
    { state: 'waiting-for-subtasks', subtasks: [{ ref: '#8', since: AT }] },
    ['subtask'],
    'was split into subtasks and waits for its subtask #8 to be done, since 2026-01-02 03:04 UTC.',
  ],
  [
    'the merge queue has it',
    { state: 'merge-pending', checks: { verdict: 'queue', waitsFor: [], since: LATER } },
    ['merge'],
    'is approved and waits for the merge queue of the host to merge pull request #9, since 2026-01-02 03:20 UTC.',
  ],
  [
    'its repository is archived',
    { repoUnavailable: { reason: 'archived', since: LATER }, task: task() },
    ['human', 'worker'],
    'is in review and waits for its repository, which is archived on the host, since 2026-01-02 03:20 UTC, and for 1 more thing.',
  ],
  [
    'it is paused',
    { isPaused: true, pausedAt: LATER, task: task({ held: 'paused' }) },
    ['human'],
    'is in review and waits for a person to resume it, because it is paused, since 2026-01-02 03:20 UTC.',
  ],
  [
    'a question is open',
    { state: 'needs-clarification', question: 'Which\n<b>colour</b>?' },
    ['human'],
    'has an open question and waits for an answer to the question "Which <​b>colour<​/b>?", since 2026-01-02 03:04 UTC.',
  ],
  [
    'a person is to review',
    { state: 'human-review-ready' },
    ['human'],
    "is ready for a person and waits for a person's review of pull request #9, since 2026-01-02 03:04 UTC.",
  ],
  [
    'it failed for good',
    { state: 'failure-blocked', blockReason: 'permission_denied', blockClassification: 'permanent' },
    ['human'],
    'is blocked and waits for an operator to fix what blocks it: a required permission was denied to the pipeline, since 2026-01-02 03:04 UTC.',
  ],
  [
    'a person has retried what failed for good',
    { state: 'failure-blocked', blockReason: 'permission_denied', blockClassification: 'permanent', task: task() },
    ['worker'],
    'is blocked and waits for a free worker to claim its review task (attempt 1 of 3), since 2026-01-02 03:04 UTC.',
  ],
  [
    'a finding blocks the merge',
    { blockers: [{ id: 'f1', title: 'SQL injection', createdAt: AT }] },
    ['human'],
    'is in review and waits for the blocking finding "SQL injection" to be resolved or dismissed, since 2026-01-02 03:04 UTC.',
  ],
  [
    'checks failed for good',
    { state: 'failure-blocked', blockReason: 'ci_hard_failure' },
    ['ci'],
    'is blocked and waits for green checks on pull request #9, because they fail, since 2026-01-02 03:04 UTC.',
  ],
  [
    'the host would not merge yet',
    { lastTrigger: 'not-ready', task: task() },
    ['ci', 'worker'],
    'is in review and waits for the checks of pull request #9 to let it be merged, since 2026-01-02 03:04 UTC, and for 1 more thing.',
  ],
  [
    'another pull request merges first',
    {
      state: 'merge-pending',
      projections: [write('mergePR')],
      checks: { verdict: 'train', waitsFor: ['#12'], since: AT },
    },
    ['merge'],
    'is approved and waits for #12, which merges first, since 2026-01-02 03:04 UTC.',
  ],
  [
    'the host merges',
    { state: 'merge-pending', projections: [write('mergePR')] },
    ['merge'],
    'is approved and waits for the merge on the host, since 2026-01-02 03:04 UTC.',
  ],
  [
    'a quota is used up',
    { task: task({ held: 'quota', runAfter: LATER }) },
    ['quota'],
    'is in review and waits for the quota that its review task ran into, to be retried at 2026-01-02 03:20 UTC, since 2026-01-02 03:04 UTC.',
  ],
  [
    'a quota stopped it',
    { state: 'failure-blocked', blockReason: 'quota_exceeded', blockClassification: 'quota' },
    ['quota'],
    'is blocked and waits for a quota, because a limit of the model provider or of the version-control host is exhausted, since 2026-01-02 03:04 UTC.',
  ],
  [
    'the budget is used up',
    { task: task({ held: 'budget' }) },
    ['budget'],
    'is in review and waits for budget for its review task, since 2026-01-02 03:04 UTC.',
  ],
  [
    'the pull request is not open yet',
    { projections: [write('swapLabels'), write('createPR')], prNumber: null },
    ['projection'],
    'is in review and waits for the opening of its pull request on the host, since 2026-01-02 03:04 UTC.',
  ],
  [
    'the host refused a write',
    { projections: [write('closeIssue', '403: locked')], task: task() },
    ['projection', 'worker'],
    'is in review and waits for the closing of the issue on the host, which failed for good: 403: locked, since 2026-01-02 03:04 UTC, and for 1 more thing.',
  ],
  [
    'a transient block is about to be lifted',
    {
      state: 'failure-blocked',
      blockReason: 'service_unavailable',
      blockClassification: 'transient',
      autoUnblockAt: LATER,
    },
    ['cooldown'],
    'is blocked and waits for its next try at 2026-01-02 03:20 UTC, because a service that the work requires did not respond, since 2026-01-02 03:04 UTC.',
  ],
  [
    'a failed attempt is repeated later',
    { task: task({ held: 'backoff', runAfter: LATER, attempt: 1 }) },
    ['retry'],
    'is in review and waits for the next try of its review task at 2026-01-02 03:20 UTC (attempt 2 of 3), since 2026-01-02 03:04 UTC.',
  ],
  [
    'a move could not be made',
    { deadLetters: [{ id: 'd1', targetState: 'done', error: 'no such edge', createdAt: AT }] },
    ['dead-letter'],
    'is in review and waits for a decision on its move to done, which could not be made: no such edge, since 2026-01-02 03:04 UTC.',
  ],
];

describe('what an issue waits for', () => {
  test.each(CASES)('explains the wait when %s', (_when, over, kinds, sentence) => {
    const { explanation, waitingOn, recommendations } = explainWait(facts(over));
    expect(waitingOn.map(({ kind }) => kind)).toEqual(kinds);
    expect(explanation).toBe(`acme/shop#7 ${sentence}`);
    expect(recommendations.every((text) => text.endsWith('.'))).toBe(true);
  });

  test('every kind has a case', () => {
    const tried = new Set(CASES.flatMap(([, , kinds]) => kinds));
    expect([...tried].sort()).toEqual([...WAIT_KINDS].sort());
  });

  test('a done issue waits for nothing', () => {
    const done = explainWait(facts({ state: 'done', blockers: [{ id: 'f', title: 't', createdAt: AT }] }));
    expect(done).toEqual({ explanation: 'acme/shop#7 is done.', waitingOn: [], recommendations: [] });
  });

  test('the wait is unknown, with a remedy, when no row explains it', () => {
    const { explanation, waitingOn, recommendations } = explainWait(facts());
    expect(explanation).toBe('acme/shop#7 is in review, and no reason to wait is recorded.');
    expect([waitingOn, recommendations]).toEqual([[], [expect.stringContaining('Retry the issue')]]);
  });

  test.each([
    [{ isPaused: true }, 'Resume the issue.'],
    [{ state: 'needs-clarification' as const }, 'Answer in a comment on the issue.'],
    [
      { state: 'human-review-ready' as const, pendingPlan: 2 },
      'Read the plan, then approve it, approve an edited version, or reject it with a reason.',
    ],
    [{ state: 'human-review-ready' as const }, 'Review the pull request: approve it, or request changes.'],
    [{ blockers: [{ id: 'f', title: 't', createdAt: AT }] }, 'Resolve or dismiss the findings that block the merge.'],
    [
      { state: 'failure-blocked' as const, blockReason: 'merge_conflict' },
      'Resolve the conflict on the branch, then unblock the issue.',
    ],
    [
      { projections: [write('createPR', 'no')] },
      'Fix the cause of the rejected host write, then retry the write, or discard it.',
    ],
  ])('advice for a person: %j', (over, advice) => {
    expect(explainWait(facts(over)).recommendations).toEqual([advice]);
  });
});
