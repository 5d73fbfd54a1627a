import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Claimant, sharePlaces } from './shares.ts';

const claimant = (over: Partial<Claimant> = {}): Claimant => ({ name: 't', weight: 1, wants: 50, served: 0, ...over });
const anyClaimant = fc.record({
  name: fc.string(),
  weight: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 100, noNaN: true }), fc.nat({ max: 20 })),
  wants: fc.nat({ max: 30 }),
  served: fc.nat({ max: 40 }),
});
const claimants = fc.array(anyClaimant, { maxLength: 8 });
const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);

describe('the slots of a repo', () => {
  test('shares the slots by weight', () => {
    expect(sharePlaces(8, [claimant({ weight: 3 }), claimant()])).toEqual([6, 2]);
    expect(sharePlaces(1, [claimant(), claimant({ weight: 2 })])).toEqual([0, 1]);
  });

  test('gives slots that one track does not want to the others', () => {
    expect(sharePlaces(8, [claimant({ weight: 9, wants: 1 }), claimant(), claimant()])).toEqual([1, 4, 3]);
  });

  test('go to tracks without a weight last, whatever the others were served', () => {
    expect(sharePlaces(5, [claimant({ weight: 0 }), claimant({ wants: 3, served: 99 })])).toEqual([2, 3]);
  });

  test('go to equal tracks in order', () => {
    expect(sharePlaces(1, [claimant(), claimant()])).toEqual([1, 0]);
  });

  test('gives all slots while a track wants one, and no track more than it wants', () => {
    fc.assert(
      fc.property(fc.nat({ max: 60 }), claimants, (places, all) => {
        const given = sharePlaces(places, all);
        expect(sum(given)).toBe(Math.min(places, sum(all.map(({ wants }) => wants))));
        for (const [index, n] of given.entries()) expect(n).toBeLessThanOrEqual(all[index]?.wants ?? 0);
      }),
    );
  });

  test('never decrease for a track when one more is free', () => {
    fc.assert(
      fc.property(fc.nat({ max: 60 }), claimants, (places, all) => {
        const fewer = sharePlaces(places, all);
        for (const [index, n] of sharePlaces(places + 1, all).entries())
          expect(n).toBeGreaterThanOrEqual(fewer[index] ?? 0);
      }),
    );
  });

  test('never decrease with a greater weight', () => {
    fc.assert(
      fc.property(fc.nat({ max: 60 }), claimants, fc.nat({ max: 7 }), (places, all, who) => {
        const one = all[who];
        if (!one || one.weight === 0) return;
        const heavier = all.map((each, index) => (index === who ? { ...each, weight: each.weight * 2 } : each));
        expect(sharePlaces(places, heavier)[who]).toBeGreaterThanOrEqual(sharePlaces(places, all)[who] ?? 0);
      }),
    );
  });

  test('gives a track at least its share, rounded down, if it wants as many', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.nat({ max: 100 }), weights, (places, all) => {
        const given = sharePlaces(
          places,
          all.map((weight) => claimant({ weight, wants: 100 })),
        );
        for (const [index, n] of given.entries())
          expect(n).toBeGreaterThanOrEqual(Math.floor((places * (all[index] ?? 0)) / sum(all)));
      }),
    );
  });

  test('slots that become free one by one have the same shares over time, so that no weight starves', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 150 }), weights, (rounds, all) => {
        const served = all.map(() => 0);
        for (let round = 0; round < rounds; round += 1) {
          const now = all.map((weight, index) => claimant({ weight, wants: 1, served: served[index] ?? 0 }));
          for (const [index, n] of sharePlaces(1, now).entries()) served[index] = (served[index] ?? 0) + n;
        }
        expect(served).toEqual(
          sharePlaces(
            rounds,
            all.map((weight) => claimant({ weight, wants: rounds })),
          ),
        );
      }),
    );
  });
});
