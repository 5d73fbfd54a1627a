import { LOG_LEVELS, type LogLevel } from '@pipeline/runtime';

export interface LogEntry {
  timestamp: string;
  level: LogLevel;
  msg: string;
  /** Agent, from the name of the file. */
  agent: string;
  context: Record<string, unknown>;
}

/** 0 = fatal, the most severe. */
export const rankOf = (level: LogLevel): number => LOG_LEVELS.indexOf(level);

/** Levels by the names that other loggers give them. */
const ALIASES: Readonly<Record<string, LogLevel>> = {
  warning: 'warn',
  critical: 'fatal',
  verbose: 'debug',
  trace: 'debug',
  silly: 'debug',
};

/** Fields that make an entry; everything else is its context. Those of the process itself are of no use to a reader. */
const INTERNAL: ReadonlySet<string> = new Set([
  'timestamp',
  'time',
  'level',
  'msg',
  'message',
  'agent',
  'pid',
  'hostname',
  'v',
]);

/**
 * Reads one line of a log file: a JSON object with `timestamp` (or `time`), `level` and `msg` (or `message`).
 * @returns null for anything else, such as a line that was cut off or the output of another program.
 */
export function parseLine(line: string, agent: string): LogEntry | null {
  if (!line.startsWith('{') || !line.endsWith('}')) return null;
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
  const timestamp = timeOf(fields.timestamp ?? fields.time);
  const level = levelOf(fields.level);
  const msg = fields.msg ?? fields.message;
  if (timestamp === null || level === null || typeof msg !== 'string') return null;
  const context = Object.fromEntries(Object.entries(fields).filter(([name]) => !INTERNAL.has(name)));
  return { timestamp, level, msg, agent, context };
}

function levelOf(value: unknown): LogLevel | null {
  if (typeof value !== 'string') return null;
  const name = value.toLowerCase();
  return (LOG_LEVELS as readonly string[]).includes(name) ? (name as LogLevel) : (ALIASES[name] ?? null);
}

/** @returns ISO 8601 in UTC with milliseconds, so that texts compare as times do. */
function timeOf(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** Time and level of a line, which is all that most searches ask. */
export interface LineHead {
  timestamp: string;
  rank: number;
}

const HEAD = '{"timestamp":"';
const LEVEL = '","level":"';
const RANKS = new Map(LOG_LEVELS.map((level, rank) => [level as string, rank]));

/**
 * Reads the head of the line that stands at `start` up to `end` (its newline). Lines as our own logger writes them are
 * read by position, for parsing each costs ten times as much; any other is parsed. Null = no entry.
 */
export function headOf(block: Buffer, start: number, end: number): LineHead | null {
  const head = block.toString('latin1', start, Math.min(end, start + 64));
  const isOurs = head.startsWith(HEAD) && head.charCodeAt(37) === 0x5a && head.startsWith(LEVEL, 38);
  const rank = isOurs ? RANKS.get(head.slice(49, head.indexOf('"', 49))) : undefined;
  // A line that was cut off has the head of an entry but not its end.
  if (rank !== undefined) return block[end - 1] === 0x7d ? { timestamp: head.slice(14, 38), rank } : null;
  const entry = parseLine(block.toString('utf8', start, end), '');
  return entry && { timestamp: entry.timestamp, rank: rankOf(entry.level) };
}
