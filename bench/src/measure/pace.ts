import { sleep } from '@pipeline/runtime';
import { nowUs } from './subscribers/tally.ts';

/** Publishes so many events in one go, each with its number and stamp. */
export type Publish = (events: readonly Numbered[]) => Promise<void>;

export interface Numbered {
  seq: number;
  /** Microseconds of the machine's monotonic clock, just before it is published. */
  stamp: number;
}

/** Publishes at a pace, one call after the other; what a slow call held up goes out with the next one. */
export class Pacer {
  readonly #publish: Publish;
  readonly #perSecond: number;
  #seq = 0;

  constructor(publish: Publish, perSecond: number) {
    this.#publish = publish;
    this.#perSecond = perSecond;
  }

  /** Begins. @returns how many were published, when the signal has come; nobody need wait for it. */
  run(signal: AbortSignal): Promise<number> {
    const publishing = this.#run(signal);
    publishing.catch(() => undefined);
    return publishing;
  }

  async #run(signal: AbortSignal): Promise<number> {
    const began = performance.now();
    let published = 0;
    while (!signal.aborted) {
      const due = Math.floor(((performance.now() - began) / 1_000) * this.#perSecond) - published;
      if (due > 0) {
        await this.publish(due);
        published += due;
      }
      const nextMs = began + ((published + 1) * 1_000) / this.#perSecond - performance.now();
      if (nextMs > 0) await sleep(nextMs, signal);
    }
    return published;
  }

  async publish(count: number): Promise<void> {
    const stamp = nowUs();
    const from = this.#seq + 1;
    this.#seq += count;
    await this.#publish(Array.from({ length: count }, (_, index) => ({ seq: from + index, stamp })));
  }
}
