import { AppError } from '@pipeline/domain';
import type { ClaimedTask, ClaimRequest } from '@pipeline/engine';
import { type Logger, type LoopMetrics, type Periodic, runPeriodically } from '@pipeline/runtime';
import { type Claim, Waiter, type WaitOptions } from './waiter.ts';

/** Share of the poll's pause by which it varies. */
const JITTER = 1 / 3;

export interface ClaimLineOptions {
  claim: Claim;
  /** Those of these workers that get nothing new. */
  draining: (workerIds: readonly string[]) => Promise<readonly string[]>;
  /** Called when the last waiter has left; the line is not used again. */
  onEmpty: () => void;
  /** Pause of the slow poll, which covers lost rings; it varies by a third. */
  pollMs: number;
  log: Logger;
  metrics: LoopMetrics;
}

/** The claims of one tenant that wait in this process, first come first served. They hold no connection. */
export class ClaimLine {
  readonly #options: ClaimLineOptions;
  readonly #waiters = new Set<Waiter>();
  readonly #loop: Periodic;

  constructor(options: ClaimLineOptions) {
    this.#options = options;
    const { log, metrics, pollMs } = options;
    const poll = { everyMs: pollMs, jitter: JITTER };
    this.#loop = runPeriodically(() => this.#round(), { name: 'claim-waiters', ...poll, log, metrics });
  }

  get size(): number {
    return this.#waiters.size;
  }

  async wait(request: ClaimRequest, patience: WaitOptions): Promise<ClaimedTask | null> {
    const waiter = new Waiter(request, patience);
    this.#waiters.add(waiter);
    this.#loop.start();
    // A ring may have come after this request found nothing and before it stood in line.
    this.#loop.wake();
    try {
      return await waiter.answer;
    } finally {
      this.#waiters.delete(waiter);
      if (this.#waiters.size === 0) this.#options.onEmpty();
    }
  }

  /** There may be tasks: a round now, or once more after the one under way. */
  ring(): void {
    this.#loop.wake();
  }

  /** Answers all at once and ends; settles when nothing of it runs any more. */
  async close(): Promise<void> {
    for (const waiter of this.#waiters) waiter.leave();
    await this.#loop.stop();
  }

  /**
   * One claim after the other, in the order of the line, until nothing is left for anybody in it. At most one claim
   * per kind of request finds nothing, so a ring for nobody costs as many statements as there are kinds.
   */
  async #round(): Promise<'again' | undefined> {
    const exhausted = new Set<string>();
    try {
      for (const waiter of [...this.#waiters]) {
        if (waiter.answered || exhausted.has(waiter.scope)) continue;
        if (!(await this.#attempt(waiter))) exhausted.add(waiter.scope);
      }
      // A claim refused for a drain says nothing about those behind it.
      return (await this.#dismissDraining()) ? 'again' : undefined;
    } catch (error) {
      for (const waiter of this.#waiters) waiter.fail(error);
      return undefined;
    }
  }

  /** @throws what is wrong with more than this one request. */
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
    for (const waiter of dismissed) waiter.leave();
    return dismissed.length > 0;
  }
}
