import { sleep } from '@pipeline/runtime';
import { nowUs } from './subscribers/tally.ts';

export type Publish = (event: Numbered) => Promise<void>;

export interface Numbered {
  seq: number;
  /** Microseconds of the machine's monotonic clock, just before it is published. */
  stamp: number;
}

/**
 * Publishes at a pace, one event after the other. What a slow call held up follows at once, each still by itself: several
 * at a time would be cheaper to hand on than they are in life.
 */
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
      const dueMs = began + ((published + 1) * 1_000) / this.#perSecond - performance.now();
      if (dueMs > 0 && !(await sleep(dueMs, signal))) break;
      await this.publish();
      published += 1;
    }
    return published;
  }

  async publish(): Promise<void> {
    this.#seq += 1;
    await this.#publish({ seq: this.#seq, stamp: nowUs() });
  }
}
