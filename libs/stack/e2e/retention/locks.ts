import { readFile } from 'node:fs/promises';
import { sleep } from '@pipeline/runtime';
import pg from 'pg';

const EVERY_MS = 10;

/** An ACCESS EXCLUSIVE lock of a table that one transaction requested. */
export interface Episode {
  pid: number;
  table: string;
  waitedMs: number;
  heldMs: number;
}

/** The locks at one time. */
export interface LockSample {
  at: number;
  locks: readonly { pid: number; table: string; granted: boolean }[];
}

/** Times between samples in which a lock was seen; a lock that is between two samples is not seen. */
export function episodesOf(samples: readonly LockSample[]): Episode[] {
  const ended: Episode[] = [];
  let open = new Map<string, Episode>();
  let last = samples[0]?.at ?? 0;
  for (const { at, locks } of samples) {
    const now = new Map<string, Episode>();
    for (const { pid, table, granted } of locks) {
      const key = `${pid} ${table}`;
      const episode = open.get(key) ?? { pid, table, waitedMs: 0, heldMs: 0 };
      episode[granted ? 'heldMs' : 'waitedMs'] += at - last;
      now.set(key, episode);
    }
    for (const [key, episode] of open) if (!now.has(key)) ended.push(episode);
    open = now;
    last = at;
  }
  return [...ended, ...open.values()];
}

/** Reads the exclusive locks of some tables a hundred times a second, until `stop`. */
export class LockWatch {
  readonly #samples: LockSample[] = [];
  readonly #stopping = new AbortController();
  readonly #watching: Promise<void>;

  constructor(url: string, tables: readonly string[]) {
    this.#watching = this.#watch(url, tables);
  }

  async stop(): Promise<Episode[]> {
    this.#stopping.abort();
    await this.#watching;
    return episodesOf(this.#samples);
  }

  async #watch(url: string, tables: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const relations = tables.map((table) => `'pipeline.${table}'::regclass`).join(', ');
    const text = `select pid, relation::regclass::text as table, granted from pg_locks
      where locktype = 'relation' and mode = 'AccessExclusiveLock' and relation in (${relations})`;
    try {
      do {
        const { rows } = await client.query<LockSample['locks'][number]>({ name: 'locks', text });
        this.#samples.push({ at: performance.now(), locks: rows });
      } while (await sleep(EVERY_MS, this.#stopping.signal));
    } finally {
      await client.end();
    }
  }
}

/** A wait for the lock of a table that the server logged (log_lock_waits). */
export interface LockWait {
  application: string;
  ms: number;
}

/** Entries about locks and timeouts in the log of a server with the prefix of plans.ts. */
export interface LoggedWaits {
  waits: LockWait[];
  /** Statements that a timeout cancelled, by application. */
  cancelled: string[];
}

const WAIT = /^~~(.*?)~~LOG: {2}process \d+ acquired \w+ on relation .* after ([\d.]+) ms$/gm;
const CANCELLED = /^~~(.*?)~~ERROR: {2}(canceling statement due to (?:statement|lock) timeout)$/gm;

export const waitsIn = (log: string): LoggedWaits => ({
  waits: [...log.matchAll(WAIT)].map(([, application = '', ms]) => ({ application, ms: Number(ms) })),
  cancelled: [...log.matchAll(CANCELLED)].map(([, application, error]) => `${application}: ${error}`),
});

/** The part of the log after so many characters. */
export const logAfter = async (logFile: string, length: number): Promise<string> =>
  (await readFile(logFile, 'utf8')).slice(length);
