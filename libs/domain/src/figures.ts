/** Null without a denominator: there is no sample. */
export const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** Returns a percentage to one decimal; null without a denominator. */
export const percent = (part: number, whole: number): number | null =>
  whole === 0 ? null : roundToTenth((100 * part) / whole);

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** USD to four decimals. Summed in millionths, so that the order of the amounts does not matter. */
export const sumUsd = (amounts: readonly number[]): number =>
  Math.round(sum(amounts.map((usd) => Math.round(usd * 1_000_000))) / 100) / 10_000;

/** Rounds figures that people read. */
export const roundToTenth = (value: number): number => Math.round(value * 10) / 10;
