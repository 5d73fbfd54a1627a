import { beforeEach, describe, expect, test } from '@jest/globals';
import { type HostCheck, OUTCOMES_OF, type Outcome, type OutcomeName } from '@pipeline/domain';
import { actOnIssue, type ClaimedTask, explainIssueAt, releaseWaiting, transitionIssue } from '@pipeline/engine';
import fc from 'fast-check';
import { claimNext, drain, finish, goodOutcome, take, workUntil } from '../harness.ts';
import { reportPull } from '../host-pulls.ts';
import { updateRepo } from '../repo-columns.ts';
import { OLGA, Stage } from '../stage.ts';

/** The second issue has ended: a dependency on it is no reason to wait. */
const bench = new Stage({ issues: 2 });

beforeEach(async () => {
  await actOnIssue(bench.engine, await bench.key(2), 'cancel', OLGA);
});

const RED: HostCheck = {
  kind: 'check-run',
  name: 'build',
  state: 'failure',
  conclusion: 'failure',
  url: null,
  hostId: 1,
  at: '2026-03-01T00:00:00Z',
};

const RESULTS: Partial<Record<OutcomeName, object>> = {
  'not-planned': { reason: 'r' },
  depends: { on: ['#2'] },
  'needs-clarification': { question: 'q' },
  replan: { reason: 'r' },
  'changes-requested': { body: 'b', comments: [] },
  'needs-human': { reason: 'r' },
  conflict: { files: [] },
  'not-ready': { reason: 'r' },
};

function outcomeOf(task: ClaimedTask, outcome: OutcomeName): Outcome {
  const result = RESULTS[outcome];
  return result === undefined ? goodOutcome(task.taskType, 1) : ({ outcome, result } as Outcome);
}

/** Works on the first issue until it rests. @returns the types of the tasks that were done. */
async function workToRest(choose: (task: ClaimedTask) => Outcome): Promise<string[]> {
  const done: string[] = [];
  for (;;) {
    bench.pass(60);
    await drain(bench);
    await releaseWaiting(bench.engine);
    await drain(bench);
    const task = await claimNext(bench);
    if (!task) return done;
    done.push(task.taskType);
    if (done.length > MAX_TASKS) throw new Error(`no end after ${done.join(' ')}`);
    await finish(bench, task, choose(task));
  }
}

/** Each of the counted edges three times, with the tasks on the way to it. */
const MAX_TASKS = 120;

const why = () => {
  const { owner, name } = bench.repo;
  return explainIssueAt(bench.engine, { owner, repo: name, number: 1 });
};

/** Each task reports this outcome, if it can, and its successful one otherwise. */
const always = (outcome: OutcomeName) => (task: ClaimedTask) =>
  outcomeOf(task, OUTCOMES_OF[task.taskType].includes(outcome) ? outcome : (OUTCOMES_OF[task.taskType][0] ?? outcome));

describe('the rounds of an issue', () => {
  test('end with a person when the reviewer is never satisfied, and the reason and the count are shown', async () => {
    const done = await workToRest(always('changes-requested'));
    expect(done.filter((type) => type === 'review')).toHaveLength(4);
    expect(await bench.issue()).toMatchObject({
      state: 'failure-blocked',
      block_reason: 'review_rejected',
      blocked_from_state: 'changes-requested',
      last_error: 'The reviewer requested changes again after 3 rounds, the limit of the repository (maxRounds).',
    });
    expect(await why()).toMatchObject({
      explanation: expect.stringContaining('the reviewer rejected the change repeatedly'),
      recommendations: [expect.stringContaining('Read the review')],
      rounds: [{ from: 'in-review', trigger: 'changes-requested', count: 3, max: 3 }],
    });
  });

  test('end with a person when the checks of every head are red', async () => {
    await updateRepo(bench, { checks_policy: 'all' });
    bench.host.checks = [RED];
    const done = await workToRest((task) => goodOutcome(task.taskType, 1));
    expect(done.filter((type) => type === 'develop')).toHaveLength(4);
    expect(await bench.issue()).toMatchObject({ block_reason: 'ci_hard_failure', block_classification: 'unknown' });
    expect((await bench.issue()).last_error).toContain('failed checks of abc1234: build');
  });

  test.each([
    ['replan', 'round_limit', 'develop'],
    ['depends', 'round_limit', 'analyze'],
    ['conflict', 'merge_conflict', 'merge'],
    ['not-ready', 'round_limit', 'merge'],
  ] as const)('end with a person when every task that can reports %s', async (outcome, reason, taskType) => {
    const done = await workToRest(always(outcome));
    expect(done.filter((type) => type === taskType)).toHaveLength(4);
    expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', block_reason: reason });
  });

  test('end with a person when the reviewer approves another commit than the head every time', async () => {
    const done = await workToRest((task) =>
      task.taskType === 'review'
        ? { outcome: 'approved', result: { body: '', headSha: 'fffffff' } }
        : goodOutcome(task.taskType, 1),
    );
    expect(done.filter((type) => type === 'review')).toHaveLength(4);
    expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', block_reason: 'round_limit' });
  });

  test('end with a person when the host reports an updated branch as behind every time', async () => {
    const behind = { status: 'refused', httpStatus: 405, message: 'behind', kind: 'behind' } as const;
    const refusing = bench.host.execute;
    bench.host.execute = async (repo, number, action, context) =>
      action.type === 'mergePR' ? behind : refusing(repo, number, action, context);
    const done = await workToRest((task) => goodOutcome(task.taskType, 1));
    expect(done.filter((type) => type === 'merge')).toHaveLength(4);
    expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', block_reason: 'round_limit' });
  });

  test('the count starts again when a person unblocks the issue, retries it or moves it', async () => {
    await updateRepo(bench, { max_rounds: 1 });
    await workToRest(always('changes-requested'));
    await actOnIssue(bench.engine, await bench.key(), 'unblock', OLGA);
    expect(await bench.issue()).toMatchObject({ state: 'changes-requested', rounds: {} });
    expect(await workToRest(always('changes-requested'))).toEqual(['develop', 'review', 'develop', 'review']);
    await actOnIssue(bench.engine, await bench.key(), 'retry', OLGA);
    expect(await workToRest(always('changes-requested'))).toEqual(['develop', 'review', 'develop', 'review']);
    await transitionIssue(bench.engine, await bench.key(), 'changes-requested', OLGA);
    expect((await bench.issue()).rounds).toEqual({});
  });

  test('each edge has its own count when one leads to another', async () => {
    await workUntil(bench, 'in-review');
    await drain(bench);
    await finish(bench, await take(bench), { outcome: 'changes-requested', result: { body: 'b', comments: [] } });
    await workUntil(bench, 'merge-pending');
    await finish(bench, await take(bench), { outcome: 'conflict', result: { files: [] } });
    expect((await bench.issue()).rounds).toEqual({ 'in-review changes-requested': 1, 'merge-pending conflict': 1 });
  });

  test('end for any sequence of outcomes and checks', async () => {
    const choices = fc.record({ outcomes: fc.infiniteStream(fc.nat(9)), reds: fc.infiniteStream(fc.boolean()) });
    await updateRepo(bench, { checks_policy: 'all', max_rounds: 2 });
    await fc.assert(
      fc.asyncProperty(choices, async ({ outcomes, reds }) => {
        await actOnIssue(bench.engine, await bench.key(), 'unblock', OLGA);
        await workToRest((task) => {
          bench.host.checks = [reds.next().value ? RED : { ...RED, state: 'success' }];
          const open = OUTCOMES_OF[task.taskType].filter((outcome) => !RESTING.includes(outcome));
          return outcomeOf(task, open[(outcomes.next().value ?? 0) % open.length] ?? 'analyzed');
        });
      }),
      { numRuns: 4 },
    );
  });
});

/** Outcomes that end the issue, wait for a person or make other issues. */
const RESTING: readonly OutcomeName[] = ['not-planned', 'needs-clarification', 'needs-human', 'split'];

describe('a draft', () => {
  test('holds the merge without a task until it is ready for review', async () => {
    await workUntil(bench, 'merge-pending');
    const { execute } = bench.host;
    bench.host.execute = async (repo, number, action, context) =>
      action.type === 'mergePR'
        ? { status: 'refused', httpStatus: 405, message: 'Pull Request is still a draft', kind: 'draft' }
        : execute(repo, number, action, context);
    const done = await workToRest((task) => goodOutcome(task.taskType, 1));
    expect(done).toEqual(['merge']);
    expect(await why()).toMatchObject({
      state: 'merge-pending',
      explanation: expect.stringMatching(
        /waits for a person to mark pull request #\d+ as ready for review: it is a draft/,
      ),
      recommendations: ['Mark the pull request as ready for review on the host.'],
      rounds: [],
    });
    bench.host.execute = execute;
    bench.pass(60);
    await drain(bench);
    expect((await bench.issue()).state).toBe('merge-pending');
    await reportPull(bench, 'edited', { updatedAt: '2026-03-02T00:00:00.000Z' });
    await drain(bench);
    expect((await bench.issue()).state).toBe('done');
  });
});
