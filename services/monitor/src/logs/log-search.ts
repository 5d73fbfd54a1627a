import { LogFilter, type LogQuery } from './log-filter.ts';
import type { LogIndex, Zone } from './log-index.ts';
import { type LogEntry, parseLine } from './log-line.ts';
import { newRoom, readBlocks } from './read-blocks.ts';

export interface LogPage {
  /** Newest first. */
  entries: LogEntry[];
  /** All that match. */
  total: number;
}

interface Found {
  timestamp: string;
  /** Zone of the entry. Of two entries of one time the later line counts as the newer one. */
  zone: Zone;
  at: number;
  line: string;
}

/** Sorts by time, the newest first. */
const newestFirst = (a: Found, b: Found): number =>
  a.timestamp === b.timestamp ? b.at - a.at : a.timestamp < b.timestamp ? 1 : -1;

/**
 * Finds log entries. Zones are looked at from the newest on. As soon as a page is full and no older zone can have a
 * newer entry, lines are only read where they are needed for the number of matches.
 * @param signal ends a search whose caller has gone.
 */
export async function searchLogs(
  index: LogIndex,
  query: LogQuery,
  page: { limit: number; offset: number },
  signal: AbortSignal,
): Promise<LogPage> {
  const filter = new LogFilter(query);
  const zones = (await index.zones()).filter((zone) => filter.mayMatch(zone));
  zones.sort((a, b) => (a.newest < b.newest ? 1 : -1));
  const newest = new Newest(page);
  const room = newRoom();
  let total = 0;
  for (const [n, zone] of zones.entries()) {
    signal.throwIfAborted();
    const count = filter.countIn(zone);
    const isNeeded = newest.mayTake(zone.newest);
    if (count !== null) total += count;
    if (count === null || isNeeded) {
      const found = await look({ zone, room }, filter, newest);
      if (count === null) total += found;
    }
    newest.settle(zones[n + 1]?.newest ?? '');
  }
  const entries = newest.page().flatMap(({ line, zone }) => parseLine(line, zone.file.agent) ?? []);
  return { entries, total };
}

/** @returns how many entries of the zone match. */
async function look({ zone, room }: { zone: Zone; room: Buffer }, filter: LogFilter, newest: Newest): Promise<number> {
  let count = 0;
  try {
    for await (const { bytes, start } of readBlocks(zone.file, zone.start, zone.end, room)) {
      const hits = filter.hits(bytes);
      count += hits.length;
      for (const hit of hits) {
        if (!newest.mayTake(hit.timestamp)) continue;
        const line = bytes.toString('utf8', hit.start, hit.end);
        newest.take({ timestamp: hit.timestamp, zone, at: start + hit.start, line });
      }
    }
  } catch (error) {
    // Rotated away meanwhile: the next search finds its new name.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return count;
}

/** Number of entries that are kept before those that the offset skips are dropped. */
const SETTLE_FROM = 10_000;

/**
 * Keeps the newest entries up to the end of the page. Memory is bounded by twice that number, and for a large offset by
 * the entries of the zones that overlap in time.
 */
class Newest {
  readonly #limit: number;
  /** Number of the newest entries that still belong before the page. */
  #toSkip: number;
  #found: Found[] = [];
  /** The oldest that counts; empty while there is room. */
  #floor = '';

  constructor({ limit, offset }: { limit: number; offset: number }) {
    this.#limit = limit;
    this.#toSkip = offset;
  }

  get #size(): number {
    return this.#toSkip + this.#limit;
  }

  mayTake(timestamp: string): boolean {
    return timestamp >= this.#floor;
  }

  take(found: Found): void {
    this.#found.push(found);
    if (this.#found.length >= 2 * this.#size) this.#prune();
  }

  /** Drops what the offset skips. @param next time of the newest entry that may still come. */
  settle(next: string): void {
    if (this.#toSkip === 0 || this.#found.length < SETTLE_FROM) return;
    this.#found = this.sorted();
    const settled = this.#found.findIndex(({ timestamp }) => timestamp <= next);
    const dropped = Math.min(this.#toSkip, settled < 0 ? this.#found.length : settled);
    this.#found.splice(0, dropped);
    this.#toSkip -= dropped;
  }

  page(): Found[] {
    return this.sorted().slice(this.#toSkip);
  }

  #prune(): void {
    this.#found = this.sorted();
    this.#floor = this.#found[this.#size - 1]?.timestamp ?? '';
  }

  sorted(): Found[] {
    return this.#found.sort(newestFirst).slice(0, this.#size);
  }
}
