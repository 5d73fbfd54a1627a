import { beforeEach, describe, expect, test } from '@jest/globals';
import { autoUnblock, fail, releaseDue } from '@pipeline/engine';
import { drain, finish, goodOutcome, refOf, say, step, take, workUntil } from '../harness.ts';
import { Stage } from '../stage.ts';

const bench = new Stage();

const failNext = async (errorMessage: string, errorClass: 'transient' | 'permanent' | 'quota' = 'transient') => {
  const task = await take(bench);
  return fail(bench.engine, refOf(bench, task), { errorMessage, errorClass, invocations: [] });
};

describe('a task that fails', () => {
  test('retries the task after a backoff, and blocks its issue when the last attempt has failed', async () => {
    expect(await failNext('socket hang up')).toMatchObject({ requeued: true, attempt: 0 });
    await expect(take(bench)).rejects.toThrow('nothing to claim');
    bench.pass(31);
    expect(await releaseDue(bench.engine)).toBe(1);
    expect(await failNext('socket hang up')).toMatchObject({ requeued: true, attempt: 1 });
    bench.pass(61);
    await releaseDue(bench.engine);
    expect(await failNext('socket hang up')).toMatchObject({ requeued: false, attempt: 2 });
    await drain(bench);
    expect(await bench.issue()).toMatchObject({
      state: 'failure-blocked',
      is_blocked: true,
      blocked_from_state: 'analyzing',
      last_error: 'socket hang up',
      labels: ['svc:blocked', 'svc:failure-blocked'],
    });
  });

  test('blocks its issue for good when the same error is reported for the third time', async () => {
    for (const seconds of [31, 61]) {
      expect(await failNext('the work is odd')).toMatchObject({ requeued: true });
      bench.pass(seconds);
      await releaseDue(bench.engine);
    }
    await failNext('the work is odd');
    expect((await bench.issue()).block_classification).toBe('permanent');
  });

  test('uses all attempts on a permanent error', async () => {
    expect(await failNext('protected path touched', 'permanent')).toMatchObject({ requeued: false });
    expect((await bench.issue()).block_classification).toBe('permanent');
  });

  test('waits for a quota without using an attempt', async () => {
    expect(await failNext('429 too many requests', 'quota')).toMatchObject({ requeued: true, attempt: 0 });
    bench.pass(15 * 60 + 1);
    await releaseDue(bench.engine);
    expect((await take(bench)).attempt).toBe(0);
  });
});

test('lifts no transient block when the limit was lowered after the failure', async () => {
  for (const seconds of [31, 61, 0]) {
    await failNext('socket hang up');
    bench.pass(seconds);
    await releaseDue(bench.engine);
  }
  const { settings } = bench.engine;
  const selfHealing = { ...settings().selfHealing, maxAutoUnblocksPerIssue: 0 };
  bench.engine.settings = () => ({ ...settings(), selfHealing });
  bench.pass(5 * 60);
  expect(await autoUnblock(bench.engine)).toBe(0);
  expect((await bench.issue()).state).toBe('failure-blocked');
  bench.engine.settings = settings;
});

describe('a quota', () => {
  const quota = async (retryAfterMs?: number) => {
    const task = await take(bench);
    const failure = { errorMessage: '429 too many requests', errorClass: 'quota' as const, invocations: [] };
    return fail(bench.engine, refOf(bench, task), { ...failure, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  };
  const due = async (seconds: number) => {
    bench.pass(seconds);
    return releaseDue(bench.engine);
  };
  const HOUR = 3_600;
  const untilBlocked = async () => {
    for (let n = 0; n < 4; n += 1) {
      expect(await quota(6 * HOUR * 1_000)).toMatchObject({ requeued: true, attempt: 0 });
      await due(6 * HOUR);
    }
    expect(await quota(2 * HOUR * 1_000)).toMatchObject({ requeued: false, attempt: 0 });
  };

  test('holds for as long as the worker requests, six hours at most, and is shown on the host', async () => {
    await quota(24 * HOUR * 1_000);
    expect((await bench.issue()).status_comment_body).toContain('A limit of the model provider');
    expect(await due(6 * HOUR - 1)).toBe(0);
    expect(await due(1)).toBe(1);
  });

  test('bounds the wait of other failures too', async () => {
    const task = await take(bench);
    const asked = { errorMessage: 'socket hang up', errorClass: 'transient' as const, retryAfterMs: 24 * HOUR * 1_000 };
    await fail(bench.engine, refOf(bench, task), { ...asked, invocations: [] });
    expect(await due(6 * HOUR)).toBe(1);
  });

  test('blocks the issue after a whole day; the block lifts automatically for a retry', async () => {
    await untilBlocked();
    expect(await bench.issue()).toMatchObject({
      state: 'failure-blocked',
      block_reason: 'quota_exceeded',
      block_classification: 'quota',
      last_error: '429 too many requests',
    });
    expect((await bench.issue()).status_comment_body).toContain('It is retried automatically at 2026-03-02 02:00 UTC.');
    bench.pass(2 * HOUR - 1);
    await autoUnblock(bench.engine);
    expect((await bench.issue()).state).toBe('failure-blocked');
    bench.pass(1);
    await autoUnblock(bench.engine);
    expect(await bench.issue()).toMatchObject({ state: 'analyzing', auto_unblock_count: 0 });
  });

  test('blocks the issue again immediately while it lasts; the waiting time is reset afterwards', async () => {
    await untilBlocked();
    for (let n = 0; n < 5; n += 1) {
      bench.pass(6 * HOUR);
      await autoUnblock(bench.engine);
      expect(await quota()).toMatchObject({ requeued: false });
    }
    bench.pass(HOUR);
    await autoUnblock(bench.engine);
    await step(bench);
    expect(await bench.issue()).toMatchObject({ state: 'planning', quota_waited_ms: 0 });
    expect(await quota()).toMatchObject({ requeued: true });
  });

  test('lifts the block automatically when the task of a retry in the block waited for it too', async () => {
    await failNext('protected path touched', 'permanent');
    await say(bench, 1, '/svc:retry');
    await untilBlocked();
    expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', block_classification: 'quota' });
    bench.pass(2 * HOUR - 1);
    expect(await autoUnblock(bench.engine)).toBe(0);
    bench.pass(1);
    expect(await autoUnblock(bench.engine)).toBe(1);
    expect((await bench.issue()).state).toBe('analyzing');
  });

  test('waits another day for the quota when a person unblocks the issue', async () => {
    await untilBlocked();
    await say(bench, 1, '/svc:unblock');
    expect(await quota()).toMatchObject({ requeued: true });
  });
});

test('shows attempt and time in state in the status comment', async () => {
  await failNext('socket hang up');
  const { status_comment_body: body } = await bench.issue();
  expect(body).toContain('since 2026-03-01 00:00 UTC');
  expect(body).toContain('Attempt 2 of 3. The previous attempt failed:');
  expect(body).toContain('socket hang up');
  bench.pass(31);
  await releaseDue(bench.engine);
  await step(bench);
  expect((await bench.issue()).status_comment_body).not.toContain('Attempt');
});

describe('a person lifts a block by a comment', () => {
  beforeEach(async () => {
    await step(bench);
    await failNext('protected path touched', 'permanent');
  });

  test('/svc:unblock returns the issue to the state where it was stopped', async () => {
    await say(bench, 1, '/svc:unblock rights were given');
    expect(await bench.issue()).toMatchObject({ state: 'planning', is_blocked: false, blocked_from_state: null });
    await workUntil(bench, 'merge-pending');
    expect(bench.host.reactions.map(([, content]) => content)).toEqual(['+1']);
  });

  test('/svc:retry keeps the state until the outcome of the retry lifts the block', async () => {
    await say(bench, 1, '/svc:retry');
    expect((await bench.issue()).state).toBe('failure-blocked');
    const task = await take(bench);
    expect(task).toMatchObject({ taskType: 'plan', attempt: 0 });
    await finish(bench, task, { outcome: 'planned', result: { plan: 'p', plannedFiles: [] } });
    expect(await bench.issue()).toMatchObject({ state: 'ready-for-dev', is_blocked: false });
  });

  test('a person with read permission gets no effect and no reaction', async () => {
    bench.host.permission = 'read';
    await say(bench, 1, '/svc:unblock', { author: 'mallory' });
    expect((await bench.issue()).state).toBe('failure-blocked');
    expect(bench.host.reactions).toEqual([]);
  });
});

describe('a question', () => {
  test('waits for an answer, which the agent gets, and continues where it was asked', async () => {
    await step(bench);
    await finish(bench, await take(bench), { outcome: 'needs-clarification', result: { question: 'Which file?' } });
    expect(await bench.issue()).toMatchObject({
      state: 'needs-clarification',
      is_blocked: false,
      question: 'Which file?',
    });
    bench.host.permission = 'none';
    await say(bench, 1, 'not mine to say', { author: 'stranger' });
    expect((await bench.issue()).state).toBe('needs-clarification');
    await say(bench, 1, 'README.md');
    expect((await bench.issue()).state).toBe('planning');
    expect((await take(bench)).payload.answers).toEqual([{ author: 'alice', body: 'README.md' }]);
  });
});

describe('a review that asks for changes', () => {
  test('sends the issue back with its comments, and the next submission goes to review without a second pull request', async () => {
    await workUntil(bench, 'in-review');
    await drain(bench);
    const comments = [{ path: 'README.md', line: 3, body: 'typo' }];
    await finish(bench, await take(bench), { outcome: 'changes-requested', result: { body: 'please', comments } });
    const again = await take(bench);
    expect(again.taskType).toBe('develop');
    expect(again.payload.reviewComments).toEqual([
      { author: 'reviewer', body: 'please', path: null, line: null },
      { author: 'reviewer', body: 'typo', path: 'README.md', line: 3 },
    ]);
    const result = { branch: 'svc/issue-1', headSha: 'def5678', title: 't', body: '', changedFiles: [] };
    await finish(bench, again, { outcome: 'submitted', result });
    const review = await take(bench);
    expect(review.taskType).toBe('review');
    expect(review.payload.pr?.headSha).toBe('def5678');
    await drain(bench);
    expect(bench.host.executed.filter(({ type }) => type === 'createPR')).toHaveLength(1);
  });
});

describe('/svc:reimplement', () => {
  test('closes the pull request, deletes the branch and only then restarts the work', async () => {
    await workUntil(bench, 'in-review');
    await drain(bench);
    await say(bench, 1, '/svc:reimplement');
    expect((await bench.issue()).state).toBe('ready-for-dev');
    await expect(take(bench)).rejects.toThrow('nothing to claim');
    await drain(bench);
    expect(bench.host.executed.map(({ type }) => type)).toEqual(expect.arrayContaining(['closePR', 'deleteBranch']));
    expect(await take(bench)).toMatchObject({ taskType: 'develop', attempt: 0, payload: { pr: null } });
  });
});

describe('transient block -> automatic unblock', () => {
  const failForGood = async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await releaseDue(bench.engine);
      await failNext('socket hang up');
      bench.pass(700);
    }
  };

  test('lifts the block after 5, 15 and 45 minutes, and then leaves it to a person', async () => {
    for (const [count, minutes] of [5, 15, 45].entries()) {
      await failForGood();
      expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_count: count });
      // 700 s have passed already since the failure.
      bench.pass(minutes * 60 - 700 - 1);
      await autoUnblock(bench.engine);
      if (minutes > 5) expect((await bench.issue()).state).toBe('failure-blocked');
      bench.pass(701);
      await autoUnblock(bench.engine);
      expect(await bench.issue()).toMatchObject({
        state: 'analyzing',
        auto_unblock_count: count + 1,
        auto_unblock_at: null,
      });
    }
    await failForGood();
    expect((await bench.issue()).auto_unblock_at).toBeNull();
    bench.pass(86_400);
    await autoUnblock(bench.engine);
    expect((await bench.issue()).state).toBe('failure-blocked');
  });

  test('does not cancel the task of a person who has retried it meanwhile', async () => {
    await failForGood();
    await say(bench, 1, '/svc:retry');
    expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_at: null });
    const task = await take(bench);
    bench.pass(30);
    expect(await autoUnblock(bench.engine)).toBe(0);
    expect(await finish(bench, task, goodOutcome('analyze', 1))).toMatchObject({ state: 'planning' });
  });

  test('lifts it again when the task of a retry in the block has failed again', async () => {
    await failForGood();
    await say(bench, 1, '/svc:retry');
    await failForGood();
    expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', auto_unblock_count: 0 });
    expect(await autoUnblock(bench.engine)).toBe(1);
    expect((await bench.issue()).state).toBe('analyzing');
  });

  test('never lifts a permanent one, also after a retry in a block that would have been lifted', async () => {
    await failForGood();
    await say(bench, 1, '/svc:retry');
    await failNext('protected path touched', 'permanent');
    expect(await bench.issue()).toMatchObject({ block_classification: 'permanent', auto_unblock_at: null });
  });

  test('never lifts a permanent one', async () => {
    await failNext('protected path touched', 'permanent');
    expect((await bench.issue()).auto_unblock_at).toBeNull();
  });
});
