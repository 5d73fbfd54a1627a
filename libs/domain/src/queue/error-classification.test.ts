import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BLOCK_REASONS } from '../blocks.ts';
import { ERROR_CLASSES, type ErrorClass } from '../error-classes.ts';
import { TASK_TYPES, type TaskType } from '../task-types.ts';
import { blockReasonOf, classifyError } from './error-classification.ts';

const plain = 'the agent gave up';

describe('the class of a failure', () => {
  test.each<[ErrorClass, string]>([
    ['quota', 'Request failed with status code 429'],
    ['quota', 'HTTP/1.1 429'],
    ['quota', '403: API rate limit exceeded for installation'],
    ['quota', 'API Error: {"type":"rate_limit_error"}'],
    ['quota', 'You exceeded your current quota'],
    ['quota', 'budget of 5 USD used up'],
    ['transient', 'connect ECONNREFUSED 127.0.0.1:443'],
    ['transient', 'Request failed with status code 503'],
    ['transient', 'git fetch timed out'],
    ['transient', 'lease expired'],
    ['permanent', 'EACCES: permission denied, open x'],
    ['permanent', 'Resource not accessible by integration'],
    ['permanent', 'change touches protected path .github/'],
    ['permanent', 'invalid configuration: expected string, received number'],
    ['unknown', plain],
    ['unknown', 'merge conflict in a.ts'],
  ])('%s: %s', (errorClass, message) => {
    expect(classifyError({ message })).toBe(errorClass);
  });

  test('numbers and words of failing tests are not a limit or network error', () => {
    for (const message of [
      'AssertionError: status 429 is not status 200',
      'expected status 503 to equal 200',
      'Expected: status 403\nReceived: status 200',
      'Exceeded timeout of 5000 ms for a test',
      '429 files changed, 503 insertions',
    ]) {
      expect(classifyError({ message })).toBe('unknown');
    }
  });

  test('three equal errors are permanent, whatever the worker reports', () => {
    expect(classifyError({ message: plain, reported: 'transient', sameFingerprintCount: 2 })).toBe('transient');
    expect(classifyError({ message: plain, reported: 'transient', sameFingerprintCount: 3 })).toBe('permanent');
  });

  test('stays transient for a recurring network error or limit', () => {
    expect(classifyError({ message: 'fetch failed', sameFingerprintCount: 9 })).toBe('transient');
    expect(classifyError({ message: plain, reported: 'quota', sameFingerprintCount: 9 })).toBe('quota');
    expect(classifyError({ message: 'service unavailable', reported: 'quota' })).toBe('quota');
  });

  test('the class of the worker applies only when the message matches no pattern', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ERROR_CLASSES), (reported) => {
        expect(classifyError({ message: plain, reported })).toBe(reported);
        expect(classifyError({ message: 'permission denied', reported })).toBe('permanent');
        expect(classifyError({ message: 'too many requests', reported })).toBe('quota');
      }),
    );
  });

  test('finds the class at the end of a long log, in linear time', () => {
    const log = 'expected budget rate limit check '.repeat(20_000);
    const begun = process.cpuUsage();
    expect(classifyError({ message: `${log}\nfetch failed` })).toBe('transient');
    expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
  });
});

describe('the reason of a block', () => {
  const reason = (message: string, taskType: TaskType = 'develop', errorClass: ErrorClass = 'unknown') =>
    blockReasonOf({ message, taskType, errorClass });

  test.each([
    ['2 tests failed', 'test_failure'],
    ['error TS2322: Type string', 'build_failure'],
    ['CONFLICT (content): Merge conflict in a.ts', 'merge_conflict'],
    ['reached maximum number of turns (50)', 'max_turns'],
    ['no progress for 15 min', 'no_progress'],
    ['required checks have failed', 'ci_hard_failure'],
    ['not enough context to plan', 'missing_context'],
    ['worker lost', 'agent_timeout'],
    ['bad gateway', 'service_unavailable'],
    [plain, 'unknown'],
  ])('%s: %s', (message, expected) => {
    expect(reason(message)).toBe(expected);
  });

  test('depends on the task type of the failure', () => {
    expect(reason('check "lint" failed', 'merge')).toBe('ci_hard_failure');
    expect(reason('check "lint" failed', 'develop')).toBe('unknown');
    expect(reason('change rejected', 'review')).toBe('review_rejected');
    expect(reason('push rejected', 'develop')).toBe('unknown');
  });

  test('the reason is a limit when only the worker reports it', () => {
    expect(reason(plain, 'develop', 'quota')).toBe('quota_exceeded');
  });

  test('never contradicts the class from the same message', () => {
    const words = fc.constantFrom(
      'timed out',
      'status 429',
      'EPERM',
      'conflict',
      'budget exceeded',
      plain,
      '3 tests failed',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 4 }), fc.constantFrom(...TASK_TYPES), (parts, taskType) => {
        const message = parts.join('; ');
        const errorClass = classifyError({ message });
        const { classification } = BLOCK_REASONS[blockReasonOf({ message, taskType, errorClass })];
        expect(classification).toBe(errorClass);
      }),
    );
  });
});
