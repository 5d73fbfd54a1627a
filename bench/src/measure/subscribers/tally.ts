/** Orders to the crowd, and its answers. Times are microseconds of the machine's monotonic clock. */
export type Order =
  | { do: 'resize'; count: number }
  | { do: 'listen'; databaseUrl: string; channel: string }
  | { do: 'begin' }
  | { do: 'count' }
  | { do: 'settle'; events: number; withinMs: number }
  | { do: 'read on'; withinMs: number };

/** Messages of all subscribers since `begin`. */
export interface Count {
  messages: number;
  atUs: number;
}

/** Messages of the watching subscribers since `begin`. */
export interface Seen {
  messages: number;
  /** Milliseconds from the stamp of an event to its arrival. */
  p50Ms: number;
  p99Ms: number;
}

/** Address and credentials of a connection. */
export interface Target {
  host: string;
  port: number;
  path: string;
  /** Connects and then reads nothing. */
  isStalled: boolean;
}

const FRAME = /\{[^}]*\}/g;

/** Events are numbered and say when they were published; those that only fill the wire do not. */
export interface Stamped {
  seq?: number;
  stamp?: number;
}

/** Reads the machine's monotonic clock, which all its processes share. */
export const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n);

/**
 * Reads the events that one connection gets. @throws Error for a gap, or for an event that comes twice or too early:
 * what is lost is no gain.
 */
export class Watcher {
  readonly #latencies: number[];
  #rest = '';
  #last: number | null = null;

  constructor(latencies: number[]) {
    this.#latencies = latencies;
  }

  read(text: string): void {
    const all = this.#rest + text;
    let end = 0;
    for (const found of all.matchAll(FRAME)) {
      end = found.index + found[0].length;
      this.see(JSON.parse(found[0]) as Stamped);
    }
    this.#rest = all.slice(end);
  }

  see({ seq, stamp }: Stamped): void {
    if (seq === undefined || stamp === undefined) return;
    if (this.#last !== null && seq !== this.#last + 1) throw new Error(`event ${seq} came after ${this.#last}`);
    this.#last = seq;
    this.#latencies.push((nowUs() - stamp) / 1_000);
  }
}

/** Nearest rank. Sorts what it is given. */
export function seenOf(latencies: number[]): Seen {
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.max(0, Math.ceil(latencies.length * share) - 1)] ?? Number.NaN;
  return { messages: latencies.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}
