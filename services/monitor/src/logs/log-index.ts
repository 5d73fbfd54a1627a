import { LOG_LEVELS } from '@pipeline/runtime';
import { headOf } from './log-line.ts';
import { type Block, eachLine, type LogFile, listLogFiles, readBlocks } from './read-blocks.ts';

/** Summary of a stretch of a file, so that a search passes over zones that cannot match. A gzipped file is one zone. */
export interface Zone {
  file: LogFile;
  /** Offset of the first line. */
  start: number;
  /** After the last line. */
  end: number;
  /** Times of the oldest and the newest entry; empty texts where there is no entry. */
  oldest: string;
  newest: string;
  /** Entries by rank of their level. */
  counts: number[];
}

interface Indexed {
  /** Length of the part of the file that is in its zones. */
  upTo: number;
  zones: Zone[];
}

/**
 * Records for each block of every log file when its entries are from and how many there are of each level. Files only
 * grow, so after the first time only what was added is read. One that shrank or is another one is read again from its
 * beginning.
 */
export class LogIndex {
  readonly #dir: string;
  readonly #known = new Map<string, Indexed>();
  #refreshing: Promise<void> | null = null;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Brings the index up to date; calls at one moment share the work. @returns the zones of all files. */
  async zones(): Promise<Zone[]> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    await this.#refreshing;
    return [...this.#known.values()].flatMap(({ zones }) => zones);
  }

  async #refresh(): Promise<void> {
    const files = await listLogFiles(this.#dir);
    const ids = new Set(files.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    for (const file of files) await this.#read(file);
  }

  async #read(file: LogFile): Promise<void> {
    const known = this.#known.get(file.id);
    const isNew = known === undefined || file.size < known.upTo;
    const indexed = isNew ? { upTo: 0, zones: [] } : known;
    this.#known.set(file.id, indexed);
    // It may have been renamed since.
    for (const zone of indexed.zones) zone.file = file;
    if (file.size === indexed.upTo) return;
    if (file.gzipped) {
      indexed.zones = [await zoneOfGzipped(file)];
      indexed.upTo = file.size;
      return;
    }
    // The last block is read again with what was added to it, so that zones do not become many and small.
    const tail = indexed.zones.pop();
    try {
      for await (const block of readBlocks(file, tail?.start ?? indexed.upTo, file.size)) {
        indexed.zones.push(zoneOf(file, block));
        indexed.upTo = block.start + block.bytes.length;
      }
    } catch (error) {
      this.#known.delete(file.id);
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

const emptyZone = (file: LogFile, start: number): Zone => ({
  file,
  start,
  end: start,
  oldest: '',
  newest: '',
  counts: LOG_LEVELS.map(() => 0),
});

function zoneOf(file: LogFile, block: Block): Zone {
  const zone = emptyZone(file, block.start);
  addTo(zone, block);
  return zone;
}

async function zoneOfGzipped(file: LogFile): Promise<Zone> {
  const zone = emptyZone(file, 0);
  for await (const block of readBlocks(file)) addTo(zone, block);
  return zone;
}

function addTo(zone: Zone, { bytes, start }: Block): void {
  eachLine(bytes, (from, to) => {
    const head = headOf(bytes, from, to);
    if (head === null) return;
    zone.counts[head.rank] = (zone.counts[head.rank] ?? 0) + 1;
    if (zone.oldest === '' || head.timestamp < zone.oldest) zone.oldest = head.timestamp;
    if (head.timestamp > zone.newest) zone.newest = head.timestamp;
  });
  zone.end = start + bytes.length;
}
