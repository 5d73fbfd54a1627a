import type { ClaimedTask, ClaimRequest } from '@pipeline/engine';
import type { Logger, LoopMetrics } from '@pipeline/runtime';
import type { NotifiedTenants } from '@pipeline/store';
import type { Claim, WaitOptions } from './waiter.ts';
import { WaiterQueue } from './waiter-queue.ts';

export interface ClaimWaitersOptions {
  claim: Claim;
  /** Returns a claim whose worker did not get the response. */
  returnClaim: (tenantId: number, task: ClaimedTask) => Promise<unknown>;
  /** Returns those of the workers that are draining. */
  draining: (tenantId: number, workerIds: readonly string[]) => Promise<readonly string[]>;
  /** Interval of each tenant's slow poll while claims wait; default 1.5 s. */
  pollMs?: number | undefined;
  log: Logger;
  metrics: LoopMetrics;
}

const POLL_MS = 1_500;

/**
 * The long poll of claims: one waiter queue per tenant, woken by notifications. A claim that finds a task immediately
 * does not wait. A task reaches its worker or is returned, also when the caller disconnects while the response is
 * written.
 */
export class ClaimWaiters {
  readonly #options: ClaimWaitersOptions;
  readonly #queues = new Map<number, WaiterQueue>();
  readonly #ending = new Set<Promise<unknown>>();
  #closed = false;

  constructor(options: ClaimWaitersOptions) {
    this.#options = options;
  }

  /** Number of claims that wait now. */
  get size(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.size, 0);
  }

  /**
   * @returns the task, or null after the timeout, for a draining worker, after a disconnect and on shutdown.
   * @throws AppError NOT_FOUND for a worker that is not registered, STORE_UNAVAILABLE.
   */
  async claim(request: ClaimRequest, options: WaitOptions): Promise<ClaimedTask | null> {
    const { signal } = options;
    if (this.#closed || signal.aborted) return null;
    const task = (await this.#options.claim(request)) ?? (await this.#wait(request, options));
    if (!task) return null;
    if (signal.aborted) {
      this.#returnClaim(request.tenantId, task);
      return null;
    }
    signal.addEventListener('abort', () => this.#returnClaim(request.tenantId, task), { once: true });
    return task;
  }

  /** Tasks of these tenants, or of any, may be claimable. */
  wake(tenantIds: NotifiedTenants): void {
    for (const [tenantId, queue] of this.#queues) {
      if (tenantIds === null || tenantIds.includes(tenantId)) queue.wake();
    }
  }

  /** Answers all waiting claims, and from now on every claim, with null. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  /** Settles when every claim that reached no worker has been returned. */
  async settled(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  async #wait(request: ClaimRequest, options: WaitOptions): Promise<ClaimedTask | null> {
    if (this.#closed || options.signal.aborted || options.waitMs === 0) return null;
    return this.#queueOf(request.tenantId).wait(request, options);
  }

  #queueOf(tenantId: number): WaiterQueue {
    const known = this.#queues.get(tenantId);
    if (known) return known;
    const { claim, draining, pollMs = POLL_MS, log, metrics } = this.#options;
    const queue: WaiterQueue = new WaiterQueue({
      claim,
      draining: (workerIds) => draining(tenantId, workerIds),
      onEmpty: () => {
        if (this.#queues.get(tenantId) === queue) this.#queues.delete(tenantId);
        this.#track(queue.close());
      },
      pollMs,
      log,
      metrics,
    });
    this.#queues.set(tenantId, queue);
    return queue;
  }

  #returnClaim(tenantId: number, task: ClaimedTask): void {
    const { returnClaim, log } = this.#options;
    const fields = { taskId: task.id, taskType: task.taskType, issueNumber: task.issueNumber, repo: task.repo };
    const returned = returnClaim(tenantId, task).then(
      () => log.info('claim released: the worker disconnected', fields),
      // Its lease expires; that costs time and an attempt, not the task.
      (error: unknown) => log.warn('claim could not be released', { ...fields, error }),
    );
    this.#track(returned);
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.finally(() => this.#ending.delete(tracked));
    this.#ending.add(tracked);
  }
}
