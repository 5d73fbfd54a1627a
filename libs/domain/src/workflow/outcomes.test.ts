import { describe, expect, test } from '@jest/globals';
import { TASK_TYPES } from '../task-types.ts';
import { DEFAULT_OUTCOME, OUTCOME_NAMES, OUTCOME_RESULTS, OUTCOMES_OF } from './outcomes.ts';

describe('outcomes', () => {
  test('belong to a task type that may report them', () => {
    const reportable = new Set(TASK_TYPES.flatMap((taskType) => OUTCOMES_OF[taskType]));
    expect(OUTCOME_NAMES.filter((name) => !reportable.has(name))).toEqual([]);
  });

  test('outcomes of exit code 0 are allowed for the task type; a review must print its verdict', () => {
    for (const taskType of TASK_TYPES) {
      const outcome = DEFAULT_OUTCOME[taskType];
      if (outcome) expect(OUTCOMES_OF[taskType]).toContain(outcome);
    }
    expect(DEFAULT_OUTCOME.review).toBeUndefined();
  });

  test('a split has 1 to 20 subtasks', () => {
    const split = (count: number) => ({ subtasks: Array.from({ length: count }, () => ({ title: 't', body: '' })) });
    const accepted = [0, 1, 20, 21].map((count) => OUTCOME_RESULTS.split.safeParse(split(count)).success);
    expect(accepted).toEqual([false, true, true, false]);
  });

  test('a text that a person must read is not blank', () => {
    const blank = ['', ' ', '\n \u00a0'].map((question) =>
      OUTCOME_RESULTS['needs-clarification'].safeParse({ question }),
    );
    expect(blank.map(({ success }) => success)).toEqual([false, false, false]);
    expect(OUTCOME_RESULTS['needs-clarification'].parse({ question: '  Which?\n' })).toEqual({
      question: '  Which?\n',
    });
  });

  test.each(['', 'HEAD', '123456', '9AA22B0F', '9aa22b0; rm'])('%j is no head to merge', (headSha) => {
    expect(OUTCOME_RESULTS.mergeable.safeParse({ headSha }).success).toBe(false);
  });
});
