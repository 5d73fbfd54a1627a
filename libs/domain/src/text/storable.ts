const NUL = /\0/g;

/** True for text that Postgres can store, also inside JSON: no NUL, no unpaired surrogate. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Decoded UTF-8 contains such characters only if JSON escapes them; a false positive only costs a traversal. */
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/** Returns whether the texts of a JSON document may hold characters that Postgres cannot store. */
export const hasUnstorableEscape = (json: string): boolean => UNSTORABLE_ESCAPE.test(json);

/** Replaces each NUL and each unpaired surrogate of a text by U+FFFD; the length stays the same. */
const sanitizeText = (text: string): string => text.toWellFormed().replace(NUL, '\ufffd');

/** A copy of a JSON value in which every text and key was sanitized by `sanitizeText`. */
export function sanitizeJson<T>(value: T): T {
  return sanitized(value) as T;
}

function sanitized(value: unknown): unknown {
  if (typeof value === 'string') return sanitizeText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sanitized);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [sanitizeText(key), sanitized(inner)]));
}
