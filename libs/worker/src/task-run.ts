import type { ClaimedTask } from '@pipeline/contract';
import type { ScannedResult } from '@pipeline/domain';
import type { Logger } from '@pipeline/runtime';
import { isClaimGone, isUnauthorized, type WorkerClient } from './client.ts';
import type { GitCredentials } from './git-env.ts';
import { Recorder, type RunRecord } from './recorder.ts';
import { isTransient } from './retry.ts';
import { failure, type Verdict } from './verdict.ts';

/** What a handler is given beside its task. */
export interface TaskContext {
  /** Aborted when the work must end at once: withdrawn, lost, or given back. What the handler returns is then moot. */
  signal: AbortSignal;
  /** Counts from zero; no two running tasks of a worker share one. */
  slot: number;
  log: Logger;
  /**
   * Git credentials for the repo of the task, good for about an hour; null where the service has none.
   * @throws ApiFailure when the claim is lost.
   */
  credentials(): Promise<GitCredentials | null>;
  /** Notes something about the run; sent about once a second, or with the report. Never throws. */
  record(record: RunRecord): void;
}

/** Does one task. A handler that throws has failed transiently. */
export type TaskHandler = (task: ClaimedTask, context: TaskContext) => Promise<Verdict>;

type EndReason = 'gone' | 'give-back';

export interface TaskRunOptions {
  client: WorkerClient;
  task: ClaimedTask;
  handler: TaskHandler;
  slot: number;
  log: Logger;
  now: () => Date;
  /** Aborted when no report can get through any more. */
  signal: AbortSignal;
  /** End of the lease by our own clock, from the claim on. */
  leaseEndsAt: number;
}

/**
 * One claim from start to report:
 * claimed -> started -> handled -> records sent -> reported, the claim being renewed by the worker's heartbeat.
 * Gone (withdrawn, lost, lease over): the handler is stopped and nothing more is said about the task. A report that
 * waits out an outage is still sent after the lease: whether it comes too late is the service's to say.
 * Given back: the handler is stopped and a transient failure is reported.
 */
export class TaskRun {
  readonly task: ClaimedTask;
  /** Renewed by each heartbeat that was heard, counted from when it was sent. */
  leaseEndsAt: number;
  readonly #options: TaskRunOptions;
  readonly #handling = new AbortController();
  /** For calls about the task; they end when the claim is gone, but survive a give-back. */
  readonly #talking = new AbortController();
  #reason: EndReason | null = null;
  #reporting = false;

  constructor(options: TaskRunOptions) {
    this.#options = options;
    this.task = options.task;
    this.leaseEndsAt = options.leaseEndsAt;
  }

  /** The task is no longer ours. */
  gone(why: string): void {
    if (this.#reason === 'gone') return;
    this.#options.log.warn('the claim was lost; discarding the task', { why });
    this.#reason = 'gone';
    this.#handling.abort(new Error(why));
    this.#talking.abort(new Error(why));
  }

  /** Nothing was heard for as long as the lease lasts: someone else may have the task by now. */
  leaseOver(): void {
    if (!this.#reporting) this.gone('its lease ended unheard');
  }

  /** Stops the work and gives the task back as failed. */
  giveBack(): void {
    this.#reason ??= 'give-back';
    this.#handling.abort(new Error('the worker is stopping immediately'));
  }

  get #givenBack(): boolean {
    return this.#reason === 'give-back';
  }

  /** Settles when the task has been reported or dropped. @throws ApiFailure when the token is refused. */
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
      // A handler's outcome is checked by the service, whose word on it is final.
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
      // Better a failure without its costs than a claim that hangs until its lease is over.
      await client.fail(task, { errorMessage: errorMessage.slice(0, 2_000), errorClass }, signal);
    }
  }
}

/** The service has read the report and does not take it as it is. */
const isRefusal = (error: unknown): boolean => !isTransient(error) && !isClaimGone(error) && !isUnauthorized(error);
