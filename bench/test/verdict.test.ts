import { expect, test } from '@jest/globals';
import type { Verdict } from '../src/runner/model.ts';
import { conclusionOf } from '../src/runner/verdict.ts';

const linesOf = (...verdicts: Verdict[]) => verdicts.map((verdict, index) => ({ goal: index + 1, verdict }));

test('ends with 0 when every goal is kept', () => {
  expect(conclusionOf(linesOf('pass', 'pass'), [])).toEqual({ status: 0, text: 'every goal is kept' });
});

test('ends with 3 when a row is inconclusive and none is missed', () => {
  const conclusion = { status: 3, text: 'inconclusive: goals 2' };
  expect(conclusionOf(linesOf('pass', 'inconclusive'), [])).toEqual(conclusion);
});

test('ends with 1 when a goal is missed or was not measured', () => {
  const missed = { status: 1, text: 'missed: goals 1; inconclusive: goals 2' };
  expect(conclusionOf(linesOf('MISS', 'inconclusive'), [])).toEqual(missed);
  expect(conclusionOf(linesOf('pass'), [7])).toEqual({ status: 1, text: 'not measured: goals 7' });
});
