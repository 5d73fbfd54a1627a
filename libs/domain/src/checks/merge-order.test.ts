import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { STATES } from '../states.ts';
import { chooseFront, type TrainCar, type TrainFront } from './merge-order.ts';

const LIMIT = 1_000;
const car = (prNumber: number, over: Partial<TrainCar> = {}): TrainCar => ({
  prNumber,
  headSha: `head-${prNumber}`,
  state: 'merge-pending',
  isPaused: false,
  mergeId: prNumber,
  isHeldUp: false,
  isInDoubt: false,
  isUpdating: false,
  ...over,
});
const front = (prNumber: number, over: Partial<TrainFront> = {}): TrainFront => ({
  prNumber,
  updatedHead: null,
  ageMs: 0,
  ...over,
});
const choose = (cars: TrainCar[], current: TrainFront | null = null) => chooseFront(cars, current, LIMIT);

describe('the front', () => {
  test('the front is the oldest ready merge when none was chosen', () => {
    expect(choose([car(3, { mergeId: 8 }), car(5, { mergeId: 7 })])).toBe(5);
    expect(choose([])).toBeNull();
  });

  test('keeps its place when an older merge becomes ready', () => {
    expect(choose([car(1), car(2)], front(2))).toBe(2);
  });

  test.each<[string, Partial<TrainCar>]>([
    ['its branch is being updated', { mergeId: null, isUpdating: true }],
    ['its updated head is in review', { mergeId: null, state: 'in-review', headSha: 'new' }],
    ['its updated head waits for a person', { mergeId: null, state: 'human-review-ready', headSha: 'new' }],
    ['its merge may be on its way and it is paused', { isInDoubt: true, isPaused: true }],
  ])('keeps its place when %s, until its time is over', (_when, over) => {
    const cars = [car(1, over), car(2)];
    expect(choose(cars, front(1, { updatedHead: 'new', ageMs: LIMIT - 1 }))).toBe(1);
    expect(choose(cars, front(1, { updatedHead: 'new', ageMs: LIMIT }))).toBe(2);
  });

  test.each<[string, Partial<TrainCar>]>([
    ['it is paused', { isPaused: true }],
    ['its checks are red', { mergeId: null, state: 'changes-requested', headSha: 'new' }],
    ['it is blocked', { mergeId: null, state: 'failure-blocked', headSha: 'new' }],
    ['another account pushed', { mergeId: null, state: 'in-review', headSha: 'other' }],
    ['its merge waits for a retry', { isHeldUp: true }],
  ])('leaves its place when %s', (_when, over) => {
    expect(choose([car(1, over), car(2)], front(1, { updatedHead: 'new' }))).toBe(2);
  });
});

const anyCar = fc.record<TrainCar>({
  prNumber: fc.integer({ min: 1, max: 9 }),
  headSha: fc.constantFrom('old', 'new'),
  state: fc.constantFrom(...STATES),
  isPaused: fc.boolean(),
  mergeId: fc.option(fc.integer({ min: 1, max: 1_000 })),
  isHeldUp: fc.boolean(),
  isInDoubt: fc.boolean(),
  isUpdating: fc.boolean(),
});
const anyCars = fc.uniqueArray(anyCar, { selector: ({ prNumber, mergeId }) => `${prNumber}/${mergeId}`, maxLength: 9 });
const distinct = anyCars.map((cars) => {
  const byNumber = new Map(cars.map((each, index) => [each.prNumber, { ...each, mergeId: each.mergeId && index + 1 }]));
  return [...byNumber.values()];
});
const anyFront = fc.option(
  fc.record<TrainFront>({
    prNumber: fc.integer({ min: 1, max: 9 }),
    updatedHead: fc.option(fc.constantFrom('old', 'new')),
    ageMs: fc.integer({ min: 0, max: 2 * LIMIT }),
  }),
);
const isReady = ({ mergeId, state, isPaused, isHeldUp }: TrainCar) =>
  mergeId !== null && state === 'merge-pending' && !isPaused && !isHeldUp;

describe('the choice', () => {
  test('does not depend on the order of the cars, and is final until something changes', () => {
    fc.assert(
      fc.property(distinct, anyFront, (cars, current) => {
        const chosen = choose(cars, current);
        expect(choose([...cars].reverse(), current)).toBe(chosen);
        if (chosen !== null) expect(choose(cars, current?.prNumber === chosen ? current : front(chosen))).toBe(chosen);
      }),
    );
  });

  test('chooses a ready merge or the current front, whenever a merge is ready', () => {
    fc.assert(
      fc.property(distinct, anyFront, (cars, current) => {
        const chosen = choose(cars, current);
        const ready = cars.filter(isReady);
        if (chosen === null) expect(ready).toEqual([]);
        else if (chosen !== current?.prNumber) {
          const ids = ready.map(({ mergeId }) => mergeId ?? 0);
          expect(ready.find(({ prNumber }) => prNumber === chosen)?.mergeId).toBe(Math.min(...ids));
        }
      }),
    );
  });

  test('never waits for a front that is not ready when its time is over', () => {
    fc.assert(
      fc.property(distinct, anyFront, (cars, current) => {
        if (current === null) return;
        const chosen = choose(cars, { ...current, ageMs: LIMIT });
        expect(cars.filter(isReady).map(({ prNumber }) => prNumber)).toEqual(
          chosen === null ? [] : expect.arrayContaining([chosen]),
        );
      }),
    );
  });
});
