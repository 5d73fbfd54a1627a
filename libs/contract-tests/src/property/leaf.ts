import fc from 'fast-check';

/** Gives values that requests may use by field name: ids, repos and numbers that the target returned. */
export type KnownValues = (name: string) => readonly (string | number)[];

/** A generator of candidates for one value, with its weight among the others. */
export interface Candidate {
  arbitrary: fc.Arbitrary<unknown>;
  weight: number;
}

/** Candidates that are drawn to find out how many of them are accepted. */
const PROBES = 40;
/** A generator with a smaller share of accepted values is left out, where others do: drawing from it takes long. */
const LEAST_SHARE = 0.2;
const PROBE_SEED = 1;

/** The share of accepted values among the first ones of a generator, 0 to 1. */
const acceptedShare = (arbitrary: fc.Arbitrary<unknown>, accepts: (value: unknown) => boolean): number =>
  fc.sample(arbitrary, { seed: PROBE_SEED, numRuns: PROBES }).filter(accepts).length / PROBES;

/**
 * One generator out of several: those that give accepted values often enough, each restricted to accepted values.
 * @returns null when none does.
 */
export function acceptedOf(
  candidates: readonly Candidate[],
  accepts: (value: unknown) => boolean,
): fc.Arbitrary<unknown> | null {
  const shares = candidates.map((candidate) => ({ candidate, share: acceptedShare(candidate.arbitrary, accepts) }));
  const often = shares.filter(({ share }) => share >= LEAST_SHARE);
  const usable = often.length > 0 ? often : shares.filter(({ share }) => share > 0);
  if (usable.length === 0) return null;
  return fc.oneof(
    ...usable.map(({ candidate: { arbitrary, weight } }) => ({ arbitrary: arbitrary.filter(accepts), weight })),
  );
}

/** A generator of the listed values that are accepted; no candidate when there is none. */
export function listed(values: readonly unknown[], accepts: (value: unknown) => boolean, weight: number): Candidate[] {
  const accepted = values.filter(accepts);
  return accepted.length === 0 ? [] : [{ arbitrary: fc.constantFrom(...accepted), weight }];
}

/**
 * Draws from what the target returned, which is read at each draw; from `fallback` while nothing fits.
 */
export function knownOr(
  fallback: fc.Arbitrary<unknown>,
  known: () => readonly (string | number)[],
  accepts: (value: unknown) => boolean,
): fc.Arbitrary<unknown> {
  return fc.tuple(fc.nat({ max: 9_999 }), fc.nat({ max: 9 }), fallback).map(([index, dice, other]) => {
    if (dice < 3) return other;
    const fitting = known().filter(accepts);
    return fitting.length === 0 ? other : fitting[index % fitting.length];
  });
}
