import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Chance that comes out the same for the same seed. */
export interface Draw {
  /** 0 <= x < 1. */
  real(): number;
  chance(probability: number): boolean;
  /** from <= n <= to. */
  int(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  weighted<T>(entries: readonly (readonly [T, number])[]): T;
  /** Times as they are spread in life: half are below the median, few are many times it. */
  around(median: number): number;
  /** A UUID in the form of version 7, so that ids follow the time. */
  uuid(atMs: number): string;
}

export function drawOf(seed: number): Draw {
  const generator = xoroshiro128plus(seed);
  const real = () => uniformFloat64(generator);
  const int = (from: number, to: number) => from + Math.floor(real() * (to - from + 1));
  const hex = (digits: number) =>
    int(0, 16 ** digits - 1)
      .toString(16)
      .padStart(digits, '0');
  return {
    real,
    int,
    chance: (probability) => real() < probability,
    pick(list) {
      const one = list[int(0, list.length - 1)];
      if (one === undefined) throw new Error('nothing to pick from');
      return one;
    },
    weighted(entries) {
      let left = real() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      const found =
        entries.find(([, weight]) => {
          left -= weight;
          return left < 0;
        }) ?? entries.at(-1);
      if (!found) throw new Error('nothing to choose from');
      return found[0];
    },
    around: (median) => median * 4 ** (real() + real() + real() - 1.5),
    uuid(atMs) {
      const time = Math.floor(atMs).toString(16).padStart(12, '0');
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${(8 + int(0, 3)).toString(16)}${hex(3)}-${hex(8)}${hex(4)}`;
    },
  };
}
