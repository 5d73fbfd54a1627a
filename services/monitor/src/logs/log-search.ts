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
  /** Of two entries of one time the later line counts as the newer one. */
  zone: Zone;
  at: number;
  line: string;
}

/** Sorts by time, the newest first. */
const newestFirst = (a: Found, b: Found): number =>
  a.timestamp === b.timestamp ? b.at - a.at : a.timestamp < b.timestamp ? 1 : -1;

/**
 * Finds log entries. Zones are looked at from the newest on. As soon as a page is full and no older zone can have a
 * newer entry, lines are read no more, but where only they tell how many match.
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
  const newest = new Newest(page.offset + page.limit);
  const room = newRoom();
  let total = 0;
  for (const zone of zones) {
    signal.throwIfAborted();
    const count = filter.countIn(zone);
    const isNeeded = newest.mayTake(zone.newest);
    if (count !== null) total += count;
    if (count === null || isNeeded) {
      const found = await look({ zone, room }, filter, newest);
      if (count === null) total += found;
    }
  }
  const entries = newest
    .sorted()
    .slice(page.offset)
    .flatMap(({ line, zone }) => parseLine(line, zone.file.agent) ?? []);
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
    // Rotated away meanwhile: the next search knows its new name.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return count;
}

/** Keeps the newest so many of all that it is given; memory is bounded by twice their number. */
class Newest {
  readonly #size: number;
  #found: Found[] = [];
  /** The oldest that counts; empty while there is room. */
  #floor = '';

  constructor(size: number) {
    this.#size = size;
  }

  mayTake(timestamp: string): boolean {
    return timestamp >= this.#floor;
  }

  take(found: Found): void {
    this.#found.push(found);
    if (this.#found.length >= 2 * this.#size) this.#prune();
  }

  #prune(): void {
    this.#found = this.sorted();
    this.#floor = this.#found[this.#size - 1]?.timestamp ?? '';
  }

  sorted(): Found[] {
    return this.#found.sort(newestFirst).slice(0, this.#size);
  }
}
