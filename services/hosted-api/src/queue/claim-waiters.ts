import type { ClaimedTask, ClaimRequest } from '@pipeline/engine';
import type { Logger, LoopMetrics } from '@pipeline/runtime';
import type { NotifiedTenants } from '@pipeline/store';
import { ClaimLine } from './claim-line.ts';
import type { Claim, WaitOptions } from './waiter.ts';

export interface ClaimWaitersOptions {
  claim: Claim;
  /** Undoes a claim whose worker did not get it. */
  giveBack: (tenantId: number, task: ClaimedTask) => Promise<unknown>;
  /** Those of these workers that get nothing new. */
  draining: (tenantId: number, workerIds: readonly string[]) => Promise<readonly string[]>;
  /** Pause of each tenant's slow poll while somebody waits; default 1.5 s. */
  pollMs?: number | undefined;
  log: Logger;
  metrics: LoopMetrics;
}

const POLL_MS = 1_500;

/**
 * Claims that wait: one line per tenant, woken by notifications. A claim that finds a task at once stands
 * in no line. A task reaches its worker or is given back: also when the caller goes away while the answer is written.
 */
export class ClaimWaiters {
  readonly #options: ClaimWaitersOptions;
  readonly #lines = new Map<number, ClaimLine>();
  readonly #ending = new Set<Promise<unknown>>();
  #closed = false;

  constructor(options: ClaimWaitersOptions) {
    this.#options = options;
  }

  /** How many wait now. */
  get size(): number {
    return [...this.#lines.values()].reduce((sum, line) => sum + line.size, 0);
  }

  /**
   * @returns the task, or null: nothing came in time, the worker drains, the caller has gone or the process stops.
   * @throws AppError NOT_FOUND for a worker that is not registered, STORE_UNAVAILABLE.
   */
  async claim(request: ClaimRequest, patience: WaitOptions): Promise<ClaimedTask | null> {
    const { signal } = patience;
    if (this.#closed || signal.aborted) return null;
    const task = (await this.#options.claim(request)) ?? (await this.#wait(request, patience));
    if (!task) return null;
    if (signal.aborted) {
      this.#giveBack(request.tenantId, task);
      return null;
    }
    signal.addEventListener('abort', () => this.#giveBack(request.tenantId, task), { once: true });
    return task;
  }

  /** Tasks of these tenants, or of any, may be waiting. */
  ring(tenantIds: NotifiedTenants): void {
    for (const [tenantId, line] of this.#lines) {
      if (tenantIds === null || tenantIds.includes(tenantId)) line.ring();
    }
  }

  /** Answers everybody who waits, and from now on every claim, with nothing. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#lines.values()].map((line) => line.close()));
  }

  /** Settles when every claim that reached nobody has been given back. */
  async settled(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  async #wait(request: ClaimRequest, patience: WaitOptions): Promise<ClaimedTask | null> {
    if (this.#closed || patience.signal.aborted || patience.waitMs === 0) return null;
    return this.#lineOf(request.tenantId).wait(request, patience);
  }

  #lineOf(tenantId: number): ClaimLine {
    const known = this.#lines.get(tenantId);
    if (known) return known;
    const { claim, draining, pollMs = POLL_MS, log, metrics } = this.#options;
    const line: ClaimLine = new ClaimLine({
      claim,
      draining: (workerIds) => draining(tenantId, workerIds),
      onEmpty: () => {
        if (this.#lines.get(tenantId) === line) this.#lines.delete(tenantId);
        this.#track(line.close());
      },
      pollMs,
      log,
      metrics,
    });
    this.#lines.set(tenantId, line);
    return line;
  }

  #giveBack(tenantId: number, task: ClaimedTask): void {
    const { giveBack, log } = this.#options;
    const told = { taskId: task.id, taskType: task.taskType, issueNumber: task.issueNumber, repo: task.repo };
    const given = giveBack(tenantId, task).then(
      () => log.info('claim released: the worker disconnected', told),
      // Its lease ends by itself; that costs time and an attempt, not the task.
      (error: unknown) => log.warn('claim could not be released', { ...told, error }),
    );
    this.#track(given);
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.finally(() => this.#ending.delete(tracked));
    this.#ending.add(tracked);
  }
}
