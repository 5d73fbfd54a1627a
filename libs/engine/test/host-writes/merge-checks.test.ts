import { beforeEach, describe, expect, test } from '@jest/globals';
import type { HostCheck } from '@pipeline/domain';
import { allowUncheckedMerge, applyHostEvent, explainIssueAt } from '@pipeline/engine';
import { drain, finish, goodOutcome, take, workUntil } from '../harness.ts';
import { hostPull } from '../host-pulls.ts';
import { updateRepo } from '../repo-columns.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();
const HEAD = 'abc1234';
const check = (name: string, state: HostCheck['state'], hostId = 1): HostCheck => ({
  kind: 'check-run',
  name,
  state,
  conclusion: state === 'pending' ? null : state,
  url: null,
  hostId,
  at: '2026-03-01T00:00:00Z',
});
/** Sends what is in the outbox, the merge included, and lets its poll interval pass. */
const poll = async () => {
  bench.pass(31);
  await drain(bench);
};
const why = () => {
  const { owner, name } = bench.repo;
  return explainIssueAt(bench.engine, { owner, repo: name, number: 1 });
};
const event = (checks: HostCheck[]) =>
  applyHostEvent(
    { engine: bench.engine, repo: bench.repo, host: bench.host },
    { kind: 'checks', repo: bench.repo, headSha: HEAD, prNumbers: [1], checks, sender: 'ci' },
  );

/** An approved pull request whose merge is in the outbox. */
beforeEach(async () => {
  await updateRepo(bench, { checks_policy: 'required' });
  await workUntil(bench, 'merge-pending');
  await drain(bench);
  await finish(bench, await take(bench), goodOutcome('merge', 1));
});

describe('a merge', () => {
  test('waits for the required checks, reports which, and continues when they are green', async () => {
    bench.host.rules = { requiredChecks: ['build', 'lint'], reviewGate: 'app', methods: ['rebase'] };
    bench.host.checks = [check('build', 'pending'), check('optional', 'failure')];
    await drain(bench);
    expect((await bench.issue()).state).toBe('merge-pending');
    expect(await why()).toMatchObject({
      explanation: expect.stringContaining('waits for the checks build, lint on pull request #'),
      waitingOn: [expect.objectContaining({ kind: 'ci' })],
    });
    expect((await bench.issue()).status_comment_body).toContain('- build\n- lint');
    bench.host.checks = [check('build', 'success'), check('lint', 'success')];
    await poll();
    expect((await bench.issue()).state).toBe('done');
    expect(bench.host.executed.filter(({ type }) => type === 'mergePR')).toHaveLength(1);
  });

  test('a squash has a title without closing words when the title of the pull request got one', async () => {
    bench.host.checks = [check('build', 'success')];
    bench.host.pulls.set(1_001, hostPull(bench, { title: 'Fixes #12' }));
    const { execute } = bench.host;
    const titles: unknown[] = [];
    bench.host.execute = async (repo, number, action, context) => {
      if (action.type === 'mergePR') titles.push(action.title);
      return execute(repo, number, action, context);
    };
    await drain(bench);
    expect(titles).toEqual(['Refs #12']);
  });

  test('uses no attempt while it waits', async () => {
    bench.host.checks = [check('build', 'pending')];
    await drain(bench);
    for (let round = 0; round < 10; round += 1) await poll();
    expect(await bench.entry('mergePR')).toMatchObject({ status: 'pending', attempts: 0, attempt_started_at: null });
  });

  test('waits for all checks of the head when none is required', async () => {
    bench.host.checks = [check('build', 'success'), check('lint', 'pending')];
    await drain(bench);
    expect((await why()).explanation).toContain('the check lint on');
  });

  test('sends a merge earlier when a webhook reports a check', async () => {
    bench.host.checks = [check('build', 'pending')];
    await drain(bench);
    bench.host.checks = [check('build', 'success')];
    await drain(bench);
    expect((await bench.issue()).state).toBe('merge-pending');
    await event([check('build', 'success')]);
    await drain(bench);
    expect((await bench.issue()).state).toBe('done');
  });
});

describe('a red check', () => {
  test('sends the issue back with its name and the end of its log in the payload', async () => {
    bench.host.checks = [check('build', 'failure'), check('lint', 'pending')];
    bench.host.logs.set('build', 'expected 1, got 2');
    await drain(bench);
    expect(await bench.transitions()).toContain('merge-pending -> changes-requested (checks-failed)');
    const task = await take(bench);
    expect(task.taskType).toBe('develop');
    expect(task.payload.checks).toEqual([
      expect.objectContaining({ name: 'build', state: 'failure', logTail: 'expected 1, got 2' }),
      expect.objectContaining({ name: 'lint', state: 'pending', logTail: null }),
    ]);
    expect(task.payload.reviewComments.at(-1)).toMatchObject({
      author: 'checks',
      body: expect.stringContaining('expected 1, got 2'),
    });
    expect(bench.host.executed.map(({ type }) => type)).not.toContain('mergePR');
  });

  test('never merges with a red check, also when an operator allowed a merge without checks', async () => {
    await allowUncheckedMerge(bench.engine, await bench.key(), OLGA);
    bench.host.checks = [check('build', 'failure')];
    await drain(bench);
    expect((await bench.issue()).state).toBe('changes-requested');
  });
});

describe('a head without checks', () => {
  test('merges the head when an operator allows it', async () => {
    await drain(bench);
    expect((await bench.issue()).state).toBe('merge-pending');
    expect((await why()).explanation).toContain('or an operator to allow its merge without any');
    expect(await allowUncheckedMerge(bench.engine, await bench.key(), OLGA)).toBe(HEAD);
    await drain(bench);
    expect((await bench.issue()).state).toBe('done');
  });

  test('merges the head when the repo states that it has no checks', async () => {
    await updateRepo(bench, { checks_policy: 'none' });
    await drain(bench);
    expect((await bench.issue()).state).toBe('done');
  });
});

describe('checks that do not end', () => {
  beforeEach(async () => {
    bench.host.checks = [check('build', 'pending')];
    await drain(bench);
    bench.pass(bench.engine.settings().checks.timeoutMinutes * 60);
    await drain(bench);
  });

  test('block the issue with ci_timeout after the time limit', async () => {
    expect(await bench.issue()).toMatchObject({
      state: 'failure-blocked',
      block_reason: 'ci_timeout',
      blocked_from_state: 'merge-pending',
      last_error: expect.stringContaining('build'),
    });
    expect(await bench.entry('mergePR')).toMatchObject({ status: 'discarded' });
  });

  test('waits no longer when the checks are green after all', async () => {
    bench.host.checks = [check('build', 'success', 2)];
    await event(bench.host.checks);
    expect((await bench.issue()).state).toBe('merge-pending');
    await finish(bench, await take(bench), goodOutcome('merge', 1));
    await drain(bench);
    expect((await bench.issue()).state).toBe('done');
  });
});

describe('a branch that is behind its base', () => {
  const refuse = { status: 'refused', httpStatus: 405, message: 'expected', kind: 'behind' } as const;
  beforeEach(async () => {
    bench.host.checks = [check('build', 'success')];
    bench.host.nextResults.push(refuse);
    await bench.send('mergePR');
  });

  test('updates the branch, and its new head goes to a review', async () => {
    bench.host.nextResults.push({ status: 'ok', repeated: false, created: { number: 1, sha: 'fed4321' } });
    await bench.send('updateBranch');
    expect(await bench.transitions()).toContain('merge-pending -> in-review (head-moved)');
  });

  test('goes back to development when it conflicts', async () => {
    bench.host.nextResults.push({ ...refuse, httpStatus: 422, kind: 'conflict' });
    await bench.send('updateBranch');
    expect((await bench.issue()).state).toBe('changes-requested');
  });

  test('merges the branch again when the update changed nothing', async () => {
    bench.host.nextResults.push({ status: 'ok', repeated: true, created: { number: 1, sha: HEAD } });
    await bench.send('updateBranch');
    await finish(bench, await take(bench), goodOutcome('merge', 1));
    await drain(bench);
    expect((await bench.issue()).state).toBe('done');
  });
});

test('waits on when the host requires a check that cannot be read', async () => {
  bench.host.checks = [check('build', 'success')];
  const message = 'Required status check "secret" is expected.';
  bench.host.nextResults.push({ status: 'refused', httpStatus: 405, message, kind: 'checks' });
  await bench.send('mergePR');
  expect((await bench.issue()).state).toBe('merge-pending');
  expect(await bench.entry('mergePR')).toMatchObject({ status: 'pending', attempts: 0 });
  await poll();
  expect((await bench.issue()).state).toBe('done');
});

test('blocks the issue with ci_timeout when the host goes on to require a check that cannot be read', async () => {
  bench.host.checks = [check('build', 'success')];
  const message = 'Required status check "secret" is expected.';
  const { timeoutMinutes } = bench.engine.settings().checks;
  for (let minute = 0; minute <= timeoutMinutes; minute += 10) {
    bench.host.nextResults.push({ status: 'refused', httpStatus: 405, message, kind: 'checks' });
    await bench.send('mergePR').catch(() => undefined);
    bench.pass(10 * 60);
  }
  expect(await bench.issue()).toMatchObject({ state: 'failure-blocked', block_reason: 'ci_timeout' });
});
