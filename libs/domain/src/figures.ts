/** Null without a denominator: there is no sample. */
export const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** To one decimal; null without a denominator. */
export const percent = (part: number, whole: number): number | null =>
  whole === 0 ? null : roundToTenth((100 * part) / whole);

/** Continuous, like `percentile_cont` of Postgres: interpolates between two values. Null without values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = share * (sorted.length - 1);
  const below = sorted[Math.floor(rank)];
  const above = sorted[Math.ceil(rank)];
  if (below === undefined || above === undefined) return null;
  return below + (above - below) * (rank - Math.floor(rank));
}

export const median = (values: readonly number[]): number | null => percentile(values, 0.5);

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const mean = (values: readonly number[]): number | null => ratio(sum(values), values.length);

/** USD to four decimals. Summed in millionths, so that the order of the amounts does not matter. */
export const sumUsd = (amounts: readonly number[]): number =>
  Math.round(sum(amounts.map((usd) => Math.round(usd * 1_000_000))) / 100) / 10_000;

/** For figures that people read. */
export const roundToTenth = (value: number): number => Math.round(value * 10) / 10;
