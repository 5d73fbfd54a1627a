import { displayText } from '@pipeline/domain';

const CELL = 80;
const LINE = 1_000;

/** A text of the service as one line without control and invisible characters. */
export const text = (value: string, length = LINE): string => displayText(value, length);

/** Renders a text like `text`, for the cell of a table. */
export const cell = (value: string | null): string | null => (value === null ? null : displayText(value, CELL));

export const usd = (value: number): string => `$${value.toFixed(2)}`;

/** An amount, with the number of invocations whose cost was not reported. */
export const usdWith = (value: number, unreported: number): string =>
  unreported === 0 ? usd(value) : `${usd(value)} (+${unreported} unreported)`;

/** Time since a timestamp in its largest whole unit: `3h`. */
export function ago(timestamp: string | null, now: string): string | null {
  if (timestamp === null) return null;
  const seconds = Math.max(0, Math.floor((Date.parse(now) - Date.parse(timestamp)) / 1000));
  if (seconds >= 86_400) return `${Math.floor(seconds / 86_400)}d`;
  if (seconds >= 3_600) return `${Math.floor(seconds / 3_600)}h`;
  return seconds >= 60 ? `${Math.floor(seconds / 60)}m` : `${seconds}s`;
}

/** Joins the lines that are there. */
export const lines = (...parts: (string | null | false)[]): string =>
  parts.filter((part) => part !== null && part !== false).join('\n');
