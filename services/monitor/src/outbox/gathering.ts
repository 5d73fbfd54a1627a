import { sleep } from '@pipeline/runtime';

/**
 * Lets concurrent work that reaches the same point within a short time continue in the same turn of the event loop, so
 * that it shares statements.
 */
export class Gathering {
  readonly #maxWaitMs: number;
  #waiting: (() => void)[] = [];
  /** Ends the wait of those that wait; null while there are none. */
  #timer: AbortController | null = null;

  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** Waits until half of the work in flight has arrived, for `maxWaitMs` at most. @param inFlight includes the caller. */
  join(inFlight: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length * 2 >= inFlight) this.#release();
      else if (this.#timer === null) void this.#releaseLater();
    });
  }

  async #releaseLater(): Promise<void> {
    this.#timer = new AbortController();
    const isLate = await sleep(this.#maxWaitMs, this.#timer.signal);
    if (isLate) this.#release();
  }

  #release(): void {
    this.#timer?.abort();
    this.#timer = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
