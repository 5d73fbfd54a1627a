const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Limits {
  perMinute: number;
  perHour: number;
}

/**
 * Writes of content that a host takes: never more than the limits in any 60 seconds and any hour,
 * whatever moment they are counted from. It starts with nothing spent, so a restart may overdraw once; then the host's
 * own refusal paces us.
 */
export class WriteBudget {
  readonly #limits: () => Limits;
  readonly #now: () => Date;
  /** Times of the writes of the last hour, oldest first. */
  #spent: number[] = [];
  /** Number of attempts in progress, whether or not they have spent their write yet. */
  #reserved = 0;

  constructor(limits: () => Limits, now: () => Date) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Notes a write that goes out now, whether or not there was budget for it. */
  spend(): void {
    this.#forgetOld();
    this.#spent.push(this.#now().getTime());
  }

  /**
   * Keeps room for the most writes that one attempt may take, so that concurrent attempts do not overdraw together. One
   * that takes more than the limit itself has its turn when all of that is free.
   * @returns how to give the room back when the attempt has ended; null when there is too little.
   */
  reserve(writes: number): (() => void) | null {
    const { perMinute, perHour } = this.#limits();
    const needed = Math.min(writes, perMinute, perHour);
    if (this.left() - this.#reserved < needed) return null;
    this.#reserved += needed;
    return () => {
      this.#reserved -= needed;
    };
  }

  /** Returns how many writes may go out now. */
  left(): number {
    this.#forgetOld();
    const { perMinute, perHour } = this.#limits();
    const minuteAgo = this.#now().getTime() - MINUTE_MS;
    const lastMinute = this.#spent.filter((at) => at > minuteAgo).length;
    return Math.max(0, Math.min(perMinute - lastMinute, perHour - this.#spent.length));
  }

  #forgetOld(): void {
    const hourAgo = this.#now().getTime() - HOUR_MS;
    this.#spent = this.#spent.filter((at) => at > hourAgo);
  }
}

/** A fetch that notes each request which changes something on the host. */
export const spendingFetch =
  (budget: WriteBudget, send: typeof fetch = fetch): typeof fetch =>
  (input, init) => {
    const method = (init?.method ?? 'GET').toUpperCase();
    if (method !== 'GET' && method !== 'HEAD') budget.spend();
    return send(input, init);
  };
