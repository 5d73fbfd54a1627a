import { sleep } from '@pipeline/runtime';

const ANSWER_WITHIN_MS = 30_000;
/** Statuses that concurrent work causes: the issue has changed meanwhile, or is not imported yet. */
const EXPECTED: ReadonlySet<number> = new Set([404, 409]);

interface Window {
  /** Milliseconds until the whole answer had arrived, sorted. */
  ms: number[];
  errors: string[];
}

/** Sends requests and records their durations and failures. */
export class Requests {
  #window: Window = { ms: [], errors: [] };
  readonly #signal: AbortSignal;

  /** @param signal ends requests in flight without an error. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** @returns the text of a successful answer, otherwise null. */
  async send(url: string, init: RequestInit = {}): Promise<string | null> {
    const startedAt = performance.now();
    const what = `${init.method ?? 'GET'} ${new URL(url).pathname}`;
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    try {
      const response = await fetch(url, { ...init, signal });
      const text = await response.text();
      this.#window.ms.push(performance.now() - startedAt);
      if (response.ok) return text;
      if (!EXPECTED.has(response.status)) this.fail(`${what}: ${response.status} ${text.slice(0, 200)}`);
    } catch (error) {
      if (!this.#signal.aborted) this.fail(`${what}: ${String(error)} ${String((error as Error).cause ?? '')}`);
    }
    return null;
  }

  fail(error: string): void {
    this.#window.errors.push(error);
  }

  /** Everything since the last call. */
  take(): Window {
    const { ms, errors } = this.#window;
    this.#window = { ms: [], errors: [] };
    return { ms: ms.toSorted((a, b) => a - b), errors };
  }
}

/** Returns a percentile of a sorted list; 0 for an empty one. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Repeats the work at a fixed rate until the signal; late rounds are left out, not made up for. */
export async function atRate(
  perMinute: number,
  signal: AbortSignal,
  work: (round: number) => Promise<unknown>,
): Promise<void> {
  const everyMs = 60_000 / perMinute;
  for (let round = 0; !signal.aborted; round += 1) {
    const startedAt = performance.now();
    await work(round);
    await sleep(Math.max(0, everyMs - (performance.now() - startedAt)), signal);
  }
}
