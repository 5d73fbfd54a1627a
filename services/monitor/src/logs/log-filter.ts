import type { LogLevel } from '@pipeline/runtime';
import type { Zone } from './log-index.ts';
import { headOf, type LogEntry, parseLine, rankOf } from './log-line.ts';
import { Needle } from './needle.ts';
import { eachLine, NEWLINE } from './read-blocks.ts';

/** The wanted value; null = any. */
export interface LogQuery {
  agent: string | null;
  /** The least severe one wanted. */
  level: LogLevel | null;
  issue: string | null;
  /** ISO 8601 in UTC with milliseconds. */
  since: string | null;
  /** Text to find in `msg`, without regard to case. */
  search: string | null;
}

/** An entry that was found: its time, and its line in a block. */
export interface Hit {
  timestamp: string;
  start: number;
  end: number;
}

/** A query made ready for many blocks. */
export class LogFilter {
  readonly #query: LogQuery;
  readonly #maxRank: number;
  /** Finds lines worth parsing; null = the head of a line decides. */
  readonly #hint: Needle | null;
  readonly #text: FoldedText | null;

  constructor(query: LogQuery) {
    this.#query = query;
    this.#maxRank = query.level === null ? Number.POSITIVE_INFINITY : rankOf(query.level);
    const search = query.search || null;
    this.#text = search === null ? null : new FoldedText(search);
    this.#hint = hintOf(query.issue, search);
  }

  /** True when entries of the zone may match. */
  mayMatch({ file, newest, counts }: Zone): boolean {
    const { agent, since } = this.#query;
    if (agent !== null && file.agent !== agent) return false;
    if (newest === '' || (since !== null && newest < since)) return false;
    return counts.some((count, rank) => count > 0 && rank <= this.#maxRank);
  }

  /** Counts the matching entries of the zone if its index suffices; null when its lines decide. */
  countIn({ oldest, counts }: Zone): number | null {
    const { issue, since } = this.#query;
    if (this.#text !== null || issue !== null || (since !== null && oldest < since)) return null;
    return counts.reduce((sum, count, rank) => (rank <= this.#maxRank ? sum + count : sum), 0);
  }

  /** The matching lines of a block, in no order. */
  hits(bytes: Buffer): Hit[] {
    return this.#hint === null ? this.#byHead(bytes) : this.#byHint(bytes, this.#hint);
  }

  #byHead(bytes: Buffer): Hit[] {
    const { since } = this.#query;
    const hits: Hit[] = [];
    eachLine(bytes, (start, end) => {
      const head = headOf(bytes, start, end);
      if (head === null || head.rank > this.#maxRank || (since !== null && head.timestamp < since)) return;
      hits.push({ timestamp: head.timestamp, start, end });
    });
    return hits;
  }

  #byHint(bytes: Buffer, hint: Needle): Hit[] {
    const hits: Hit[] = [];
    for (const start of hint.lines(bytes)) {
      const end = bytes.indexOf(NEWLINE, start);
      const entry = parseLine(bytes.toString('utf8', start, end), '');
      if (entry && this.#matches(entry)) hits.push({ timestamp: entry.timestamp, start, end });
    }
    return hits;
  }

  #matches({ timestamp, level, msg, context }: LogEntry): boolean {
    const { issue, since } = this.#query;
    if (rankOf(level) > this.#maxRank || (since !== null && timestamp < since)) return false;
    if (issue !== null && !(isText(context.issue) && String(context.issue) === issue)) return false;
    return this.#text === null || this.#text.isIn(msg);
  }
}

const isText = (value: unknown): boolean => typeof value === 'number' || typeof value === 'string';

/** Matches characters that are not printable ASCII or are escaped in JSON. */
const NOT_PLAIN = /[^ !#-[\]-~]+/;

/** A part of a long text distinguishes lines as well, and is compared at each place where it may begin. */
const MAX_HINT = 32;

/**
 * A text that every matching line has, for looking at a block as a whole. Text that is not plain has several spellings
 * in JSON, so there only its longest plain part counts.
 */
function hintOf(issue: string | null, search: string | null): Needle | null {
  if (search === null) return issue === null ? null : new Needle('"issue"');
  const parts = search.split(NOT_PLAIN);
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '');
  return new Needle(longest.slice(0, MAX_HINT) || '{');
}

/**
 * A text that is searched for without regard to case, in time proportional to what is searched (Knuth, Morris, Pratt):
 * a pattern compares a text such as `aaa…b` again from every beginning. Case is compared as a regular expression with
 * the flag `i` does, where no letter of ASCII equals one outside of it.
 */
export class FoldedText {
  readonly #units: readonly number[];
  /** Length of the longest match that a match ends with, by the length of the latter. */
  readonly #fallbacks: readonly number[];

  constructor(text: string) {
    this.#units = Array.from({ length: text.length }, (_, index) => foldedUnit(text.charCodeAt(index)));
    this.#fallbacks = fallbacksOf(this.#units);
  }

  isIn(text: string): boolean {
    const [units, fallbacks] = [this.#units, this.#fallbacks];
    let matched = 0;
    for (let index = 0; index < text.length && matched < units.length; index += 1) {
      const unit = foldedUnit(text.charCodeAt(index));
      while (matched > 0 && unit !== units[matched]) matched = fallbacks[matched] ?? 0;
      if (unit === units[matched]) matched += 1;
    }
    return matched === units.length;
  }
}

function fallbacksOf(units: readonly number[]): number[] {
  const fallbacks = [0, 0];
  let matched = 0;
  for (let index = 1; index < units.length; index += 1) {
    while (matched > 0 && units[index] !== units[matched]) matched = fallbacks[matched] ?? 0;
    if (units[index] === units[matched]) matched += 1;
    fallbacks.push(matched);
  }
  return fallbacks;
}

/** Canonicalize of ECMAScript, for patterns without the flags `u` and `v`. */
function foldedUnit(unit: number): number {
  if (unit < 128) return unit >= 97 && unit <= 122 ? unit - 32 : unit;
  const upper = String.fromCharCode(unit).toUpperCase();
  if (upper.length !== 1) return unit;
  const folded = upper.charCodeAt(0);
  return folded < 128 ? unit : folded;
}
