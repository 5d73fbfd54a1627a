const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Shown where a value is not known. */
export const UNKNOWN = '–';

/** Returns a duration in its two largest units, such as `2 d 4 h`, `3 min` or `0 s`. Negative values count as 0. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return UNKNOWN;
  const rest = Math.max(0, ms);
  if (rest < MINUTE) return `${Math.floor(rest / SECOND)} s`;
  if (rest < HOUR) return `${Math.floor(rest / MINUTE)} min`;
  if (rest < DAY) return pair(Math.floor(rest / HOUR), 'h', Math.floor((rest % HOUR) / MINUTE), 'min');
  return pair(Math.floor(rest / DAY), 'd', Math.floor((rest % DAY) / HOUR), 'h');
}

const pair = (large: number, unit: string, small: number, smallUnit: string): string =>
  small === 0 || large >= 10 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;

export const formatMinutes = (minutes: number | null | undefined): string =>
  formatDuration(minutes === null || minutes === undefined ? minutes : minutes * MINUTE);

/** Returns a short age such as `5 s ago`; times in the future count as now. */
export const formatAge = (since: number, now: number): string => {
  const ms = now - since;
  return ms < 5 * SECOND ? 'just now' : `${formatDuration(ms)} ago`;
};
