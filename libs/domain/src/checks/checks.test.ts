import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  CHECK_POLICIES,
  CHECK_STATES,
  type HostCheck,
  judgeChecks,
  logTail,
  MAX_LOG_TAIL,
  mergeMethodOf,
} from './checks.ts';

const check = (name: string, state: HostCheck['state'], more: Partial<HostCheck> = {}): HostCheck => ({
  kind: 'check-run',
  name,
  state,
  conclusion: null,
  url: null,
  hostId: 1,
  at: '2026-01-01T00:00:00Z',
  ...more,
});
const judge = (checks: HostCheck[], more: Partial<Parameters<typeof judgeChecks>[1]> = {}) =>
  judgeChecks(checks, { required: [], policy: 'required', isAllowed: false, ...more });

describe('a head', () => {
  test('judges by the required checks alone when there are some', () => {
    const checks = [check('build', 'success'), check('optional', 'failure')];
    expect(judge(checks, { required: ['build'] }).verdict).toBe('green');
    expect(judge(checks, { required: ['build'], policy: 'all' }).verdict).toBe('red');
  });

  test('judges by all checks when none is required', () => {
    expect(judge([check('build', 'success'), check('lint', 'pending')])).toMatchObject({
      verdict: 'pending',
      waitsFor: ['lint'],
    });
  });

  test('waits for a required check that nothing reported yet', () => {
    expect(judge([check('lint', 'success')], { required: ['build'] })).toMatchObject({
      verdict: 'pending',
      waitsFor: ['build'],
    });
  });

  test('a head is red when one check failed, whatever still runs', () => {
    const verdict = judge([check('build', 'failure'), check('lint', 'pending')]);
    expect(verdict).toMatchObject({ verdict: 'red', waitsFor: ['lint'] });
    expect(verdict.failed.map(({ name }) => name)).toEqual(['build']);
  });

  test('a head without checks needs consent: the policy none, or an operator', () => {
    expect(judge([]).verdict).toBe('missing');
    expect(judge([], { policy: 'all' }).verdict).toBe('missing');
    expect(judge([], { policy: 'none' }).verdict).toBe('green');
    expect(judge([], { isAllowed: true }).verdict).toBe('green');
  });

  test('ignores the statuses of the pipeline itself', () => {
    expect(judge([check('svc/review', 'success', { kind: 'status' })]).verdict).toBe('missing');
  });

  test('a check of the project counts when its name begins like those of the pipeline', () => {
    expect(judge([check('svc/tests', 'failure')]).verdict).toBe('red');
    expect(judge([check('svc/review', 'failure')]).verdict).toBe('red');
  });

  test('a red check counts when a newer green one has its name in another suite', () => {
    const red = check('build', 'failure', { hostId: 3, suiteId: 1 });
    const green = check('build', 'success', { hostId: 9, suiteId: 2 });
    expect(judge([red, green]).verdict).toBe('red');
    expect(judge([green, red], { required: ['build'] }).verdict).toBe('red');
  });

  test('waits for a check that ended without a verdict, and names its conclusion', () => {
    const verdict = judge([check('build', 'pending', { conclusion: 'cancelled' })], { required: ['build'] });
    expect(verdict).toMatchObject({ verdict: 'pending', waitsFor: ['build (cancelled)'], failed: [] });
  });

  test('judges by the newest report of each check', () => {
    const checks = [check('build', 'success', { hostId: 9 }), check('build', 'failure', { hostId: 3 })];
    expect(judge(checks).verdict).toBe('green');
  });

  test('a head is never green with a required check that is not, under any policy', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'svc/review');
    const checks = fc.array(
      fc.record({
        name: names,
        state: fc.constantFrom(...CHECK_STATES),
        hostId: fc.nat(),
        kind: fc.constant('status' as const),
      }),
    );
    const required = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'));
    fc.assert(
      fc.property(
        checks,
        required,
        fc.constantFrom(...CHECK_POLICIES),
        fc.boolean(),
        (given, wanted, policy, isAllowed) => {
          const all = given.map((each) => check(each.name, each.state, each));
          const { verdict } = judgeChecks(all, { required: wanted, policy, isAllowed });
          if (verdict !== 'green') return;
          for (const name of wanted) {
            const newest = all.filter((each) => each.name === name).sort((a, b) => b.hostId - a.hostId)[0];
            const same = all.filter((each) => each.name === name && each.hostId === newest?.hostId);
            expect(same.some(({ state }) => state === 'success')).toBe(true);
          }
          if (wanted.length === 0) {
            const named = Map.groupBy(
              all.filter(({ name }) => name !== 'svc/review'),
              ({ name }) => name,
            );
            for (const reports of named.values()) expect(reports.some(({ state }) => state === 'success')).toBe(true);
          }
        },
      ),
    );
  });
});

test('merges by the configured way when the host allows it', () => {
  expect(mergeMethodOf('rebase', ['merge', 'rebase'])).toBe('rebase');
  expect(mergeMethodOf('squash', ['merge', 'rebase'])).toBe('merge');
});

test('keeps whole last lines of a long log', () => {
  const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}`);
  const tail = logTail(`${lines.join('\n')}\n`);
  expect(tail.length).toBeLessThanOrEqual(MAX_LOG_TAIL);
  expect(tail.split('\n').every((line) => lines.includes(line))).toBe(true);
  expect(tail.endsWith('line 1999')).toBe(true);
});

test('splits no character of a long line', () => {
  const tail = logTail(`${'😀'.repeat(MAX_LOG_TAIL)}!`);
  expect(tail.isWellFormed()).toBe(true);
  expect(tail.length).toBeGreaterThan(MAX_LOG_TAIL - 3);
});
