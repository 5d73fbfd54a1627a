import { describe, expect, test } from '@jest/globals';
import type { Bound, Line, Verdict } from '../src/runner/model.ts';
import { renderTable } from '../src/runner/table.ts';
import { conclusionOf, linesOf as linesOfCase } from '../src/runner/verdict.ts';

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

describe('an anchor', () => {
  const against = (bound?: Bound): Line[] => {
    const contender = (name: string) => ({ name, sample: () => Promise.reject(new Error('sampled already')) });
    const anchors = [{ contender: contender('peer'), ...(bound && { bound }) }];
    const samples = [1, 9].map((value) => [value, 10].map((each) => ({ value: each, cpu: null })));
    return linesOfCase(1, { title: 'work', unit: 'tasks/s', ours: contender('ours'), anchors }, samples);
  };

  test('a row without a bound is compared and never judged, however much its rounds disagree', () => {
    const [line] = against();
    expect(line).toMatchObject({ ratio: 0.5, bound: null, verdict: null });
    expect(conclusionOf(against(), [])).toEqual({ status: 0, text: 'every goal is kept' });
    expect(renderTable(against())).toMatch(/0\.5 +\| - +\| - +\| 2 /);
  });

  test('a row with a bound is judged', () => {
    expect(against({ atLeast: 0.5 })).toMatchObject([{ verdict: 'inconclusive' }]);
    expect(against({ atLeast: 2 })).toMatchObject([{ verdict: 'MISS' }]);
  });
});
