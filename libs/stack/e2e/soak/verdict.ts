import { median } from '../checks.ts';

/** Growth within the measured time that counts as flat: this share of the median, or the absolute part if it is larger. */
export const FLAT_MEMORY = { share: 0.1, mib: 10 };
/** Entries by which a backlog may be longer at the end than at the beginning, by the slope of all samples. */
export const FLAT_BACKLOG = 10;
/** Age of the oldest entry of outbox and inbox, in seconds. */
export const OLDEST_SECONDS = 120;

/** Values of one quantity, a minute apart. */
export interface Series {
  name: string;
  values: readonly number[];
}

/** Slope per step by Theil and Sen: the median of the slopes of all pairs, which outliers do not move. */
export function theilSenSlope(values: readonly number[]): number {
  const slopes = values.flatMap((from, i) => values.slice(i + 1).map((to, j) => (to - from) / (j + 1)));
  return median(slopes.toSorted((a, b) => a - b));
}

const FLOORS = 8;

const windowOf = (values: readonly number[]): number => Math.max(2, Math.floor(values.length / FLOORS));

/**
 * The smallest value of each of about eight windows of at least two minutes: what garbage collections leave, where single
 * minutes show how recent the last collection was. A rest that fills no window belongs to the last one.
 */
export function floorsOf(values: readonly number[]): number[] {
  if (values.length === 0) return [];
  const size = windowOf(values);
  const windows = Math.max(1, Math.floor(values.length / size));
  return Array.from({ length: windows }, (_, at) =>
    Math.min(...values.slice(at * size, at === windows - 1 ? undefined : (at + 1) * size)),
  );
}

/** Growth from the first to the last value, along the slope. */
export function growthOf({ values }: Series): number {
  return theilSenSlope(values) * Math.max(0, values.length - 1);
}

/** Growth from the first to the last minute of what garbage collections leave. */
export const memoryGrowthOf = ({ values }: Series): number =>
  (theilSenSlope(floorsOf(values)) / windowOf(values)) * Math.max(0, values.length - 1);

/** @returns a line for each series of MiB that grows. */
export function growingMemory(all: readonly Series[]): string[] {
  return all.flatMap((series) => {
    const middle = median(series.values.toSorted((a, b) => a - b));
    const bound = Math.max(FLAT_MEMORY.mib, FLAT_MEMORY.share * middle);
    const growth = memoryGrowthOf(series);
    if (growth <= bound) return [];
    return [
      `${series.name} grew by ${growth.toFixed(1)} MiB in ${series.values.length} minutes, ${bound.toFixed(1)} are allowed`,
    ];
  });
}

/** @returns a line for each backlog that grows. */
export function growingBacklogs(all: readonly Series[]): string[] {
  return all.flatMap((series) => {
    const growth = growthOf(series);
    return growth <= FLAT_BACKLOG
      ? []
      : [`${series.name} grew by ${growth.toFixed(1)} entries, ${FLAT_BACKLOG} are allowed`];
  });
}

/** @returns a line for each series of ages with one above the bound. */
export function oldEntries(all: readonly Series[]): string[] {
  return all.flatMap(({ name, values }) => {
    const oldest = Math.max(0, ...values);
    return oldest <= OLDEST_SECONDS ? [] : [`${name} reached ${oldest.toFixed(0)} s, ${OLDEST_SECONDS} s are allowed`];
  });
}
