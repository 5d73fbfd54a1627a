/** Arithmetic of the oracle. It shares no function with the domain, whose results it judges. */

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

export const round = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits;

/** Null without a denominator. */
export const ratioOf = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);

/** Percentage to one decimal; null without a denominator. */
export const percentOf = (part: number, whole: number): number | null =>
  whole > 0 ? round((part / whole) * 100, 1) : null;

/** Interpolates between two values; null without values. */
export function percentileOf(values: readonly number[], share: number): number | null {
  const place = (values.length - 1) * share;
  const low = Math.trunc(place);
  const [a, b = a] = sorted(values).slice(low, low + 2);
  return a === undefined || b === undefined ? null : a * (1 - (place - low)) + b * (place - low);
}

export const medianOf = (values: readonly number[]): number | null => percentileOf(values, 0.5);

/** USD to four decimals, summed in whole millionths. */
export function usdOf(amounts: readonly { usd: number }[]): number {
  let millionths = 0n;
  for (const { usd } of amounts) millionths += BigInt(Math.round(usd * 1e6));
  return Number((millionths + 50n) / 100n) / 1e4;
}
