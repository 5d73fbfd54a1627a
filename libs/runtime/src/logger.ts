import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import winston from 'winston';
import { LOG_LEVELS, type LogLevel } from './env.ts';
import { makeFolder } from './make-folder.ts';

type Fields = Readonly<Record<string, unknown>>;
type Write = (msg: string, fields?: Fields) => void;

/** Writes JSON lines: timestamp, level, msg, agent (the name of the process), then the fields. No method throws. */
export interface Logger extends Readonly<Record<LogLevel, Write>> {
  /** A logger that adds these fields to every line. */
  child(fields: Fields): Logger;
  /** Returns whether a level is enabled; check before computing expensive fields. */
  isEnabled(level: LogLevel): boolean;
  /** Settles when all written lines have reached stream and file. */
  close(): Promise<void>;
}

export interface LoggerOptions {
  /** Name of the process: field `agent`, and the name of the file. */
  process: string;
  level?: LogLevel;
  /** Also write `<dir>/<process>.log`, rotated at 20 MiB, five files kept. */
  dir?: string | undefined;
  stream?: Writable;
  now?: () => Date;
}

const LEVELS = Object.fromEntries(LOG_LEVELS.map((level, rank) => [level, rank])) as Record<LogLevel, number>;
const ROTATE_AT = 20 * 1024 * 1024;
const LINE = Symbol.for('message');

/** Creates a logger on stdout, and in a file if a directory is given. An unusable directory is logged and not fatal. */
export function createLogger({ process: agent, level = 'info', dir, stream, now }: LoggerOptions): Logger {
  const out = stream ?? process.stdout;
  // A closed reader (EPIPE) must not exit the process.
  if (out.listenerCount('error') === 0) out.on('error', () => undefined);
  const inner = winston.createLogger({
    levels: LEVELS,
    level,
    format: jsonLine(agent, now ?? (() => new Date())),
    transports: [new winston.transports.Stream({ stream: out })],
  });
  // A failed write cannot be logged; without a listener the error event would exit the process.
  inner.on('error', () => undefined);
  // Winston computes this for each call; requests ask more than once.
  const isEnabled = (asked: LogLevel) => LEVELS[asked] <= LEVELS[level];
  const log = wrap({ inner, isEnabled, close: closeOnce(inner) }, {});
  if (dir) addFile(inner, log, join(dir, `${agent}.log`));
  return log;
}

interface Sink {
  inner: winston.Logger;
  isEnabled: (level: LogLevel) => boolean;
  close(): Promise<void>;
}

function closeOnce(inner: winston.Logger): Sink['close'] {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= new Promise((resolve) => {
      inner.once('finish', resolve);
      inner.end();
    });
    return closed;
  };
}

function wrap(sink: Sink, base: Fields): Logger {
  const { inner, isEnabled, close } = sink;
  const at =
    (level: LogLevel): Write =>
    (message, fields) => {
      if (isEnabled(level)) inner.write({ level, message, fields: { ...base, ...fields } });
    };
  return {
    fatal: at('fatal'),
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: (fields) => wrap(sink, { ...base, ...fields }),
    isEnabled,
    close,
  };
}

const jsonLine = (agent: string, now: () => Date) =>
  winston.format((info) => {
    const head = { timestamp: now().toISOString(), level: info.level, msg: String(info.message), agent };
    info[LINE] = stringify(head, info.fields);
    return info;
  })();

function stringify(head: Fields, fields: unknown): string {
  try {
    // The standard fields come first and override fields with the same names.
    return JSON.stringify({ ...head, ...(loggable(fields) as object), ...head });
  } catch (error) {
    return JSON.stringify({ ...head, logError: String(error) });
  }
}

function addFile(inner: winston.Logger, log: Logger, filename: string): void {
  const lost = (error: unknown) =>
    log.error('log file cannot be written; lines go to stdout only', { filename, error });
  try {
    makeFolder(dirname(filename));
    const file = new winston.transports.File({ filename, maxsize: ROTATE_AT, maxFiles: 5, tailable: true });
    file.once('error', (error) => {
      inner.remove(file);
      lost(error);
    });
    file.on('error', () => undefined);
    inner.add(file);
  } catch (error) {
    lost(error);
  }
}

/** Logger without output, for tests and tools. */
export const silentLogger: Logger = Object.freeze({
  fatal: () => undefined,
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => silentLogger,
  isEnabled: () => false,
  close: () => Promise.resolve(),
});

const SECRET_KEY = /pass(word|wd)?$|secret|token$|authorization|cookie|api[-_]?key|private[-_]?key|credential/i;
const HIDDEN = '[redacted]';
const MAX_DEPTH = 6;

/**
 * Returns a copy of a value that is safe to log: plain JSON, secrets redacted by key name, errors expanded with their causes,
 * cycles removed. Never throws.
 */
function loggable(value: unknown, depth = 0, seen: readonly object[] = []): unknown {
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
  // No enumerable property, unlike those of other errors.
  if (error instanceof AggregateError) shown.push(['errors', error.errors]);
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
