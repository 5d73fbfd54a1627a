import type { ClaimedTask } from '@pipeline/contract';
import type { ScannedResult } from '@pipeline/domain';
import type { Logger } from '@pipeline/runtime';
import { isClaimGone, isUnauthorized, type WorkerClient } from '../client/client.ts';
import type { GitCredentials } from '../client/git-env.ts';
import { isTransient } from '../client/retry.ts';
import { Recorder, type RunRecord } from './recorder.ts';
import { failure, type Verdict } from './verdict.ts';

/** Context of a task handler. */
export interface TaskContext {
  /** Aborted when the task is cancelled, lost or released. The result of the handler is then ignored. */
  signal: AbortSignal;
  /** Zero-based slot; unique among the running tasks of a worker. */
  slot: number;
  log: Logger;
  /**
   * Returns git credentials for the repo of the task, valid for about one hour; null when the service has none.
   * @throws ApiFailure when the claim is lost.
   */
  credentials(): Promise<GitCredentials | null>;
  /** Records an item of the run; sent about once per second or with the report. Never throws. */
  record(record: RunRecord): void;
}

/** Processes one task. A thrown error is reported as a transient failure. */
export type TaskHandler = (task: ClaimedTask, context: TaskContext) => Promise<Verdict>;

type EndReason = 'gone' | 'give-back';

export interface TaskRunOptions {
  client: WorkerClient;
  task: ClaimedTask;
  handler: TaskHandler;
  slot: number;
  log: Logger;
  now: () => Date;
  /** Aborted when reports can no longer be sent. */
  signal: AbortSignal;
  /** Expiry of the lease on the local clock, counted from the claim. */
  leaseEndsAt: number;
}

/**
 * One claim from start to report:
 * claimed -> started -> handled -> records sent -> reported; the heartbeat of the worker renews the claim.
 * Lost (cancelled, claim lost, lease expired): the handler is stopped and nothing is reported. A report delayed by an outage is
 * still sent after the lease; the service decides whether it is too late.
 * Released: the handler is stopped and a transient failure is reported.
 */
export class TaskRun {
  readonly task: ClaimedTask;
  /** Renewed by each acknowledged heartbeat, counted from the time it was sent. */
  leaseEndsAt: number;
  readonly #options: TaskRunOptions;
  readonly #handling = new AbortController();
  /** Signal for task calls; aborted when the claim is lost, but not on release. */
  readonly #talking = new AbortController();
  #reason: EndReason | null = null;
  #reporting = false;

  constructor(options: TaskRunOptions) {
    this.#options = options;
    this.task = options.task;
    this.leaseEndsAt = options.leaseEndsAt;
  }

  /** Marks the claim as lost. */
  gone(why: string): void {
    if (this.#reason === 'gone') return;
    this.#options.log.warn('the claim was lost; discarding the task', { why });
    this.#reason = 'gone';
    this.#handling.abort(new Error(why));
    this.#talking.abort(new Error(why));
  }

  /** Marks the claim as lost when no heartbeat was acknowledged for the duration of the lease. */
  leaseOver(): void {
    if (!this.#reporting) this.gone('its lease ended unheard');
  }

  /** Stops the work and releases the task as failed. */
  giveBack(): void {
    this.#reason ??= 'give-back';
    this.#handling.abort(new Error('the worker is stopping immediately'));
  }

  get #givenBack(): boolean {
    return this.#reason === 'give-back';
  }

  /** Settles when the task has been reported or discarded. @throws ApiFailure when the token is rejected. */
  async run(): Promise<void> {
    const { client, task, log, now, signal: outer } = this.#options;
    const signal = AbortSignal.any([outer, this.#talking.signal]);
    const onClaimGone = () => this.gone('the service says so');
    const recorder = new Recorder({ client, task, log, signal, now, onClaimGone });
    try {
      await client.start(task, signal);
      const verdict = await this.#handle(recorder);
      this.#reporting = true;
      await recorder.close();
      if (this.#reason !== 'gone') await this.#report(verdict, recorder, signal);
    } catch (error) {
      if (isUnauthorized(error)) throw error;
      if (isClaimGone(error)) onClaimGone();
      else if (!signal.aborted) log.error('task could not be reported; its lease will expire', { error });
    } finally {
      this.#handling.abort();
      await recorder.close();
    }
  }

  async #handle(recorder: Recorder): Promise<Verdict> {
    const { client, task, handler, slot, log } = this.#options;
    const context: TaskContext = {
      signal: this.#handling.signal,
      slot,
      log,
      credentials: () => client.credentials(task, this.#handling.signal),
      record: (record) => recorder.record(record),
    };
    try {
      this.#handling.signal.throwIfAborted();
      const verdict = await handler(task, context);
      return this.#givenBack ? failure('the worker was stopped while it worked on this') : verdict;
    } catch (error) {
      if (isClaimGone(error)) this.gone('the service says so');
      else if (!this.#handling.signal.aborted) log.error('handler failed', { error });
      return failure(error instanceof Error ? error.message || error.name : String(error));
    }
  }

  async #report(verdict: Verdict, recorder: Recorder, signal: AbortSignal): Promise<void> {
    const { client, task, log } = this.#options;
    if (verdict.kind === 'failure') return this.#fail(verdict, recorder, signal);
    try {
      // The service validates the outcome of the handler.
      const { outcome, result: said } = verdict;
      const result = outcome === 'scanned' ? recorder.scanned(said as ScannedResult) : said;
      const report = { outcome, result, ...recorder.collected };
      await client.complete(task, report as Parameters<WorkerClient['complete']>[1], signal);
      log.info('task done', { outcome: verdict.outcome });
    } catch (error) {
      if (!isRefusal(error) || signal.aborted) throw error;
      await this.#fail(failure(`the report was refused: ${(error as Error).message}`), recorder, signal);
    }
  }

  async #fail(verdict: Verdict, recorder: Recorder, signal: AbortSignal): Promise<void> {
    if (verdict.kind !== 'failure') return;
    const { client, task, log } = this.#options;
    const { errorMessage, errorClass, retryAfterMs } = verdict;
    const report = { errorMessage, errorClass, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    log.warn('task failed', report);
    try {
      await client.fail(task, { ...report, invocations: recorder.invocations }, signal);
    } catch (error) {
      if (!isRefusal(error) || signal.aborted) throw error;
      // A failure report without costs is better than a claim that stays open until its lease expires.
      await client.fail(task, { errorMessage: errorMessage.slice(0, 2_000), errorClass }, signal);
    }
  }
}

/** Returns whether the service rejected the content of a report. */
const isRefusal = (error: unknown): boolean => !isTransient(error) && !isClaimGone(error) && !isUnauthorized(error);
