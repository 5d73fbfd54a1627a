const SECRET_KEY = /pass(word|wd)?$|secret|token$|authorization|cookie|api[-_]?key|private[-_]?key|credential/i;
const HIDDEN = '[redacted]';
const MAX_DEPTH = 6;

/**
 * Returns a copy of a value that is safe to log: plain JSON, secrets redacted by key name, errors expanded with their causes,
 * cycles removed. Never throws.
 */
export function loggable(value: unknown, depth = 0, seen: readonly object[] = []): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (seen.includes(value)) return '[circular]';
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  const path = [...seen, value];
  if (Array.isArray(value)) return value.map((item) => loggable(item, depth + 1, path));
  const entries = value instanceof Error ? errorEntries(value) : readEntries(value);
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      SECRET_KEY.test(key) && inner != null ? HIDDEN : loggable(inner, depth + 1, path),
    ]),
  );
}

function errorEntries(error: Error): [string, unknown][] {
  const { name, message, stack, cause } = error;
  const shown: [string, unknown][] = [
    ['name', name],
    ['message', message],
    ['stack', stack],
  ];
  if (cause !== undefined) shown.push(['cause', cause]);
  return [...shown, ...readEntries(error).filter(([key]) => !['name', 'message', 'stack', 'cause'].includes(key))];
}

function readEntries(value: object): [string, unknown][] {
  return Object.keys(value).map((key) => {
    try {
      return [key, (value as Record<string, unknown>)[key]];
    } catch {
      return [key, '[unreadable]'];
    }
  });
}
