import type { ClaimedTask, ClaimRequest } from '@pipeline/engine';
import { sleep } from '@pipeline/runtime';

export type Claim = (request: ClaimRequest) => Promise<ClaimedTask | null>;

export interface WaitOptions {
  waitMs: number;
  /** Fires when the caller has gone. */
  signal: AbortSignal;
}

/**
 * One claim that waits for a task. waiting -(attempt)-> trying -(nothing)-> waiting, -(task, failure)-> answered;
 * leaving (time over, caller gone, drain, stop) answers with nothing: at once while waiting, else after the attempt,
 * whose task is never lost.
 */
export class Waiter {
  readonly request: ClaimRequest;
  /** Requests of equal scope get the same answer: when one found nothing, none will. */
  readonly scope: string;
  readonly answer: Promise<ClaimedTask | null>;
  readonly #resolve: (task: ClaimedTask | null) => void;
  readonly #reject: (error: unknown) => void;
  readonly #answered = new AbortController();
  #trying = false;
  #leaving = false;

  constructor(request: ClaimRequest, { waitMs, signal }: WaitOptions) {
    this.request = request;
    this.scope = scopeOf(request);
    const { promise, resolve, reject } = Promise.withResolvers<ClaimedTask | null>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    void sleep(waitMs, this.#answered.signal).then(() => this.leave());
    signal.addEventListener('abort', () => this.leave(), { once: true, signal: this.#answered.signal });
    if (signal.aborted) this.leave();
  }

  get answered(): boolean {
    return this.#answered.signal.aborted;
  }

  /** @returns whether there was a task for it. @throws what the claim threw; the waiter is told of it, too. */
  async attempt(claim: Claim): Promise<boolean> {
    this.#trying = true;
    try {
      const task = await claim(this.request);
      if (task || this.#leaving) this.#settle(() => this.#resolve(task));
      return task !== null;
    } catch (error) {
      this.fail(error);
      throw error;
    } finally {
      this.#trying = false;
    }
  }

  leave(): void {
    this.#leaving = true;
    if (!this.#trying) this.#settle(() => this.#resolve(null));
  }

  fail(error: unknown): void {
    this.#settle(() => this.#reject(error));
  }

  #settle(answer: () => void): void {
    if (this.answered) return;
    this.#answered.abort();
    answer();
  }
}

/** Names what a claim asks for: requests of one tenant that only differ in the worker have the same. */
export function scopeOf({ taskTypes, repoIds }: ClaimRequest): string {
  const repos = repoIds ? [...repoIds].sort((a, b) => a - b).join() : 'all';
  return `${[...taskTypes].sort().join()} ${repos}`;
}
