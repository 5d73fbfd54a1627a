import { type ClaimedTask, type ClaimRequest, claimScope } from '@pipeline/engine';
import { sleep } from '@pipeline/runtime';

export type Claim = (request: ClaimRequest) => Promise<ClaimedTask | null>;

export interface WaitOptions {
  waitMs: number;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
}

/**
 * A claim that waits for a task: waiting -(attempt)-> trying -(no task)-> waiting, -(task, error)-> answered. The end of
 * the wait (timeout, disconnect, drain, shutdown) answers with null: immediately while waiting, else after the attempt,
 * so that a claimed task is never lost.
 */
export class Waiter {
  readonly request: ClaimRequest;
  /** While one request of a scope finds no task, no other of the scope does. */
  readonly scope: string;
  readonly answer: Promise<ClaimedTask | null>;
  readonly #resolve: (task: ClaimedTask | null) => void;
  readonly #reject: (error: unknown) => void;
  readonly #answered = new AbortController();
  #trying = false;
  #ended = false;

  constructor(request: ClaimRequest, { waitMs, signal }: WaitOptions) {
    this.request = request;
    this.scope = claimScope(request);
    const { promise, resolve, reject } = Promise.withResolvers<ClaimedTask | null>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    void sleep(waitMs, this.#answered.signal).then(() => this.end());
    signal.addEventListener('abort', () => this.end(), { once: true, signal: this.#answered.signal });
    if (signal.aborted) this.end();
  }

  get answered(): boolean {
    return this.#answered.signal.aborted;
  }

  /** @returns whether there was a task. @throws the error of the claim, which also rejects the answer. */
  async attempt(claim: Claim): Promise<boolean> {
    this.#trying = true;
    try {
      const task = await claim(this.request);
      if (task || this.#ended) this.#settle(() => this.#resolve(task));
      return task !== null;
    } catch (error) {
      this.fail(error);
      throw error;
    } finally {
      this.#trying = false;
    }
  }

  /** Ends the wait. */
  end(): void {
    this.#ended = true;
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
