import { expect, test } from '@jest/globals';
import type { State } from '../states.ts';
import { OUTCOME_NAMES } from './outcomes.ts';
import { endsRounds, roundCounts, roundLimit, roundOf } from './rounds.ts';
import { DEFAULT_WORKFLOW, type Trigger } from './workflow.ts';

/** Triggers of the pipeline without a person; lifts of blocks have limits of their own. */
const AUTOMATIC: readonly Trigger[] = [
  ...OUTCOME_NAMES,
  'admitted',
  'dependencies-done',
  'subtasks-done',
  'subtasks-cancelled',
  'exhausted',
  'merged',
  'protected',
];

/** Edges that the engine uses beside those of the workflow. */
const BESIDE: readonly { from: State; to: State; trigger: Trigger }[] = [
  { from: 'merge-pending', to: 'changes-requested', trigger: 'checks-failed' },
  { from: 'merge-pending', to: 'merge-pending', trigger: 'behind' },
  { from: 'in-review', to: 'in-review', trigger: 'head-moved' },
  { from: 'merge-pending', to: 'in-review', trigger: 'head-moved' },
];

const isOutcome = (trigger: Trigger) => OUTCOME_NAMES.some((name) => name === trigger);

test('the workflow without the edges that are counted holds no cycle', () => {
  const edges = [...DEFAULT_WORKFLOW.edges.filter(({ trigger }) => AUTOMATIC.includes(trigger)), ...BESIDE];
  const outcome = { outcome: 'approved', result: { body: '' } } as const;
  const free = edges.filter(({ from, trigger }) => {
    const cause = isOutcome(trigger) || trigger === 'head-moved' ? { trigger, outcome } : { trigger };
    return roundOf({ from, trigger }, cause) === null;
  });
  const reached = new Set<State>();
  const visit = (state: State, path: readonly State[]): void => {
    expect(path).not.toContain(state);
    if (reached.has(state)) return;
    for (const { from, to } of free) if (from === state) visit(to, [...path, state]);
    reached.add(state);
  };
  for (const { name } of DEFAULT_WORKFLOW.states) visit(name, []);
  expect(reached.size).toBe(DEFAULT_WORKFLOW.states.length);
});

test('rounds are counted from zero after the act of a person, and only then', () => {
  const acts = ['operator', 'cancelled', 'reimplement', 'clarified', 'reopened'] as const;
  const answers = ['plan-approved', 'plan-rejected', 'review-approved', 'review-changes-requested'] as const;
  expect([...acts, ...answers].filter((trigger) => !endsRounds(trigger))).toEqual([]);
  expect(AUTOMATIC.filter(endsRounds)).toEqual([]);
});

test('the limit names what was repeated and how often', () => {
  expect(roundLimit('in-review changes-requested', 1)).toEqual({
    blockReason: 'review_rejected',
    lastError: 'The reviewer requested changes again after 1 round, the limit of the repository (maxRounds).',
  });
});

test('the counts are returned by edge in a fixed order', () => {
  expect(roundCounts({ 'merge-pending conflict': 1, 'in-review changes-requested': 2 }, 3)).toEqual([
    { from: 'in-review', trigger: 'changes-requested', count: 2, max: 3 },
    { from: 'merge-pending', trigger: 'conflict', count: 1, max: 3 },
  ]);
});
