const UNSTORABLE = /\0/g;

/**
 * A copy of a JSON value that Postgres can keep. What agents print holds NUL characters and halves of surrogate pairs
 * now and then, and one of them must not cost a report; each becomes U+FFFD.
 */
export function storable<T>(value: T): T {
  return clean(value) as T;
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replace(UNSTORABLE, '\ufffd');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clean);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), clean(inner)]));
}
