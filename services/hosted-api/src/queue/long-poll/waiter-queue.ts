import { AppError } from '@pipeline/domain';
import type { ClaimedTask, ClaimRequest } from '@pipeline/engine';
import { type Logger, type LoopMetrics, type Periodic, runPeriodically } from '@pipeline/runtime';
import { type Claim, Waiter, type WaitOptions } from './waiter.ts';

/** Jitter of the poll interval, as a share of it. */
const JITTER = 1 / 3;

export interface WaiterQueueOptions {
  claim: Claim;
  /** Returns those of the workers that are draining. */
  draining: (workerIds: readonly string[]) => Promise<readonly string[]>;
  /** Called when the last waiter has left; the queue is not used again. */
  onEmpty: () => void;
  /** Interval of the slow poll, which covers lost notifications. */
  pollMs: number;
  log: Logger;
  metrics: LoopMetrics;
}

/** The waiting claims of one tenant in this process, first come first served. They hold no connection. */
export class WaiterQueue {
  readonly #options: WaiterQueueOptions;
  readonly #waiters = new Set<Waiter>();
  readonly #loop: Periodic;

  constructor(options: WaiterQueueOptions) {
    this.#options = options;
    const { log, metrics, pollMs } = options;
    const poll = { everyMs: pollMs, jitter: JITTER };
    this.#loop = runPeriodically(() => this.#round(), { name: 'claim-waiters', ...poll, log, metrics });
  }

  get size(): number {
    return this.#waiters.size;
  }

  async wait(request: ClaimRequest, options: WaitOptions): Promise<ClaimedTask | null> {
    const waiter = new Waiter(request, options);
    this.#waiters.add(waiter);
    this.#loop.start();
    // A notification may have come between the attempt that found no task and this entry.
    this.#loop.wake();
    try {
      return await waiter.answer;
    } finally {
      this.#waiters.delete(waiter);
      if (this.#waiters.size === 0) this.#options.onEmpty();
    }
  }

  /** There may be tasks: runs a round now, or another one after the one in progress. */
  wake(): void {
    this.#loop.wake();
  }

  /** Ends all waits; settles when no round runs any more. */
  async close(): Promise<void> {
    for (const waiter of this.#waiters) waiter.end();
    await this.#loop.stop();
  }

  /**
   * Claims for one waiter after the other, in order, until none of them finds a task. At most one claim per scope finds
   * none, so a notification without tasks costs as many statements as there are scopes.
   */
  async #round(): Promise<'again' | undefined> {
    const exhausted = new Set<string>();
    try {
      for (const waiter of [...this.#waiters]) {
        if (waiter.answered || exhausted.has(waiter.scope)) continue;
        if (!(await this.#attempt(waiter))) exhausted.add(waiter.scope);
      }
      // A draining worker gets no task, so its scope is not exhausted for the waiters behind it.
      return (await this.#dismissDraining()) ? 'again' : undefined;
    } catch (error) {
      for (const waiter of this.#waiters) waiter.fail(error);
      return undefined;
    }
  }

  /** @throws errors that concern more than this request. */
  async #attempt(waiter: Waiter): Promise<boolean> {
    try {
      return await waiter.attempt(this.#options.claim);
    } catch (error) {
      if (error instanceof AppError && error.code !== 'STORE_UNAVAILABLE') return true;
      throw error;
    }
  }

  async #dismissDraining(): Promise<boolean> {
    const waiting = [...this.#waiters].filter((waiter) => !waiter.answered);
    if (waiting.length === 0) return false;
    const draining = new Set(await this.#options.draining(waiting.map((waiter) => waiter.request.workerId)));
    const dismissed = waiting.filter((waiter) => draining.has(waiter.request.workerId));
    for (const waiter of dismissed) waiter.end();
    return dismissed.length > 0;
  }
}
