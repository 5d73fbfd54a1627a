/** Rate limit of a host, as its responses report it. */
export interface HostRate {
  /** Requests that are left in the host's window; null = it has not reported any. */
  readonly remaining: number | null;
  /** Minutes, rounded up, until it listens again; 0 = it does. */
  limitedMinutes(): number;
}

const UNTOLD_MS = 60_000;
const MINUTE_MS = 60_000;

/** Reads the rate limit off the answers that pass by; it asks nothing itself. */
export class RateReading implements HostRate {
  readonly #now: () => Date;
  #remaining: number | null = null;
  #limitedUntil = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  get remaining(): number | null {
    return this.#remaining;
  }

  limitedMinutes(): number {
    return Math.max(0, Math.ceil((this.#limitedUntil - this.#now().getTime()) / MINUTE_MS));
  }

  /** The same fetch, its answers looked at. */
  watching(send: typeof fetch): typeof fetch {
    return async (input, init) => {
      const response = await send(input, init);
      this.#note(response);
      return response;
    };
  }

  #note({ status, headers }: Response): void {
    const left = Number(headers.get('x-ratelimit-remaining') ?? Number.NaN);
    // Searches have a limit of their own.
    const isCore = (headers.get('x-ratelimit-resource') ?? 'core') === 'core';
    if (isCore && Number.isInteger(left)) this.#remaining = left;
    if (status !== 403 && status !== 429) {
      if (status < 400) this.#limitedUntil = 0;
      return;
    }
    const now = this.#now().getTime();
    const after = Number(headers.get('retry-after') ?? Number.NaN);
    const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
    if (Number.isFinite(after)) this.#limitedUntil = now + after * 1_000;
    else if (left === 0 && Number.isFinite(reset)) this.#limitedUntil = reset * 1_000;
    else if (status === 429) this.#limitedUntil = now + UNTOLD_MS;
  }
}
