const NUL = /\0/g;

/** True for text that Postgres can store, also inside JSON: no NUL, no unpaired surrogate. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Decoded UTF-8 contains such characters only if JSON escapes them; a false positive only costs a traversal. */
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/** Returns whether the texts of a JSON document may hold characters that Postgres cannot store. */
export const hasUnstorableEscape = (json: string): boolean => UNSTORABLE_ESCAPE.test(json);

/** Start of a number of JSON that may be beyond the limits below; a false positive only costs a traversal. */
const WIDE_NUMBER = /[[:,\s]-?[\d.]{22}|[[:,\s]-?[\d.]+e/i;

/**
 * Returns whether a JSON document may hold numbers that Postgres writes with many more digits: of a column of type jsonb it
 * returns 1e308 in 309 digits, so that a report of some megabytes becomes hundreds.
 */
export const hasWideNumber = (json: string): boolean => WIDE_NUMBER.test(json);

const LARGEST = 1e21;
const SMALLEST = 1e-21;

/** The nearest number that Postgres writes in at most 22 digits before and 38 after the point. */
function clampNumber(value: number): number {
  if (Math.abs(value) > LARGEST) return Math.sign(value) * LARGEST;
  return Math.abs(value) < SMALLEST ? 0 : value;
}

/** Replaces each NUL and each unpaired surrogate of a text by U+FFFD; the length stays the same. */
const sanitizeText = (text: string): string => text.toWellFormed().replace(NUL, '\ufffd');

/** A copy of a JSON value in which every text and key was sanitized by `sanitizeText`, and every number by `clampNumber`. */
export function sanitizeJson<T>(value: T): T {
  return sanitized(value) as T;
}

function sanitized(value: unknown): unknown {
  if (typeof value === 'string') return sanitizeText(value);
  if (typeof value === 'number') return clampNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sanitized);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [sanitizeText(key), sanitized(inner)]));
}
