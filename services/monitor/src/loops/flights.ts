import { sleep } from '@pipeline/runtime';

/** Work in the background, one piece per key at a time. A loop's tick starts it and does not wait. */
export class Flights {
  readonly #flying = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();

  get size(): number {
    return this.#flying.size;
  }

  has(key: string): boolean {
    return this.#flying.has(key);
  }

  /** Starts `work` under a key that is free. `work` handles its own errors. @returns when the key is free again. */
  start(key: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const flight = work(this.#abort.signal).finally(() => {
      this.#flying.delete(key);
    });
    this.#flying.set(key, flight);
    return flight;
  }

  /** Waits for all work in progress. @returns whether there was any. */
  async landed(): Promise<boolean> {
    const all = [...this.#flying.values()];
    await Promise.all(all);
    return all.length > 0;
  }

  /** Waits `graceMs` for work in progress, then aborts it and waits the same time again at most. */
  async stop(graceMs: number): Promise<void> {
    if (await this.#landWithin(graceMs)) return;
    this.#abort.abort();
    await this.#landWithin(graceMs);
  }

  async #landWithin(ms: number): Promise<boolean> {
    const ended = new AbortController();
    const late = sleep(ms, ended.signal);
    const landed = await Promise.race([this.landed().then(() => true), late.then(() => false)]);
    ended.abort();
    return landed;
  }
}
