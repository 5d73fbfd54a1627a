import { z } from 'zod';

/** The windows of the analytics routes (interface: Pipeline analytics). */
export const WINDOWS = ['1h', '6h', '12h', '24h', '48h', '7d'] as const;
export type Window = (typeof WINDOWS)[number];

/** Values of the throughput's `since`; `today` begins at midnight UTC. */
export const SINCE_VALUES = ['today', ...WINDOWS] as const;
export type Since = (typeof SINCE_VALUES)[number];

export interface TimeRange {
  /** Included. */
  start: Date;
  /** Excluded. */
  end: Date;
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNIT_MS = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;

export const isWindow = (value: unknown): value is Window => WINDOWS.includes(value as Window);

export const isSince = (value: unknown): value is Since => SINCE_VALUES.includes(value as Since);

/** Parses a relative duration such as `5s`, `30m`, `1h` or `2d`; milliseconds, or null for any other text. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : null;
}

const WINDOW_MS = Object.fromEntries(WINDOWS.map((name) => [name, parseDuration(name)])) as Record<Window, number>;

/** Length of a window in milliseconds. */
export const windowMs = (window: Window): number => WINDOW_MS[window];

/** The window that ends now. */
export const windowRange = (window: Window, now: Date): TimeRange => ({
  start: new Date(now.getTime() - windowMs(window)),
  end: now,
});

/** The preceding range of equal length, for week-over-week figures. */
export const previousRange = ({ start, end }: TimeRange): TimeRange => ({
  start: new Date(2 * start.getTime() - end.getTime()),
  end: start,
});

/** The start of a `since` value. */
export const sinceStart = (since: Since, now: Date): Date =>
  since === 'today' ? utcMidnight(now) : windowRange(since, now).start;

const Zoned = z.iso.datetime({ offset: true });
const Zoneless = z.union([z.iso.date(), z.iso.datetime({ local: true, offset: true })]);

/** Longer texts are no timestamps. */
const MAX_TIMESTAMP = 64;
const MAX_TIME = Date.UTC(10_000, 0) - 1;

/** RFC 3339 allows `t` and `z` in lower case. */
const standardized = (text: string): string => (text.length > MAX_TIMESTAMP ? '' : text.toUpperCase());

/**
 * Parses an RFC 3339 date-time with `Z` or an offset.
 * @returns null for any other text, and for times before 1970 or after 9999, which the store or JSON cannot represent.
 */
export function parseTimestamp(text: string): Date | null {
  const standard = standardized(text);
  if (!Zoned.safeParse(standard).success) return null;
  const at = new Date(standard);
  return at.getTime() >= 0 && at.getTime() <= MAX_TIME ? at : null;
}

/**
 * Parses a point in time: a date or date-time of ISO 8601, in UTC when it names no zone, or a duration back from now.
 * Times before 1970 or after 9999 are clamped. Null for any other text.
 */
export function parseSince(text: string, now: Date): Date | null {
  const back = parseDuration(text);
  const at = back === null ? timeOf(standardized(text)) : now.getTime() - back;
  return at === null ? null : new Date(Math.min(MAX_TIME, Math.max(0, at)));
}

function timeOf(text: string): number | null {
  if (!Zoneless.safeParse(text).success) return null;
  const hasZone = !text.includes('T') || Zoned.safeParse(text).success;
  return Date.parse(hasZone ? text : `${text}Z`);
}

/** The same as ISO 8601 in UTC with the microseconds of the text, which a Date cannot represent. */
export function parseSinceExactly(text: string, now: Date): string | null {
  const at = parseSince(text, now);
  if (at === null) return null;
  const [, fraction = ''] = /[.](\d+)/.exec(text) ?? [];
  return at.toISOString().replace('Z', `${fraction.padEnd(6, '0').slice(3, 6)}Z`);
}

/** The last midnight UTC at or before a time. */
export const utcMidnight = (at: Date): Date => new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);

/** The day of a time in UTC, `YYYY-MM-DD`. */
export const utcDate = (at: Date): string => at.toISOString().slice(0, 10);

/** The ISO 8601 week of a time in UTC, `YYYY-Www`. Its year is that of the week's Thursday. */
export function isoWeek(at: Date): string {
  const midnight = utcMidnight(at);
  const daysToThursday = 4 - (midnight.getUTCDay() || 7);
  const thursday = new Date(midnight.getTime() + daysToThursday * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/**
 * Parses a point in the future: a duration from now (`30d`, `12h`), or an ISO 8601 date or timestamp, in UTC when it
 * names no zone. Null for any other text.
 */
export function parseExpiry(text: string, now: Date): Date | null {
  const duration = parseDuration(text);
  if (duration !== null) return new Date(now.getTime() + duration);
  const at = timeOf(standardized(text));
  return at === null ? null : new Date(at);
}
