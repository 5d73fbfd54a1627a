import type { Logger } from './logger.ts';
import type { LoopMetrics } from './metrics.ts';

/** One run of the loop. The result 'again' starts the next run immediately. */
export type Tick = (signal: AbortSignal) => Promise<unknown>;

interface PeriodicOptions {
  /** Label of logs and metrics. */
  name: string;
  /** Milliseconds from the end of one tick to the start of the next; a function is called after each tick. */
  everyMs: number | (() => number);
  /** Random jitter of each wait as a share of everyMs, so that replicas do not run in lockstep. Default 0.1. */
  jitter?: number;
  /** Stops the loop; await stop() to know that it has ended. */
  signal?: AbortSignal;
  onError?: (error: unknown) => void;
  log: Logger;
  metrics?: LoopMetrics;
  now?: () => Date;
}

interface LoopState {
  lastRunAt: Date | null;
  lastDurationMs: number | null;
  /** Error of the last tick; null when it succeeded. */
  lastError: unknown;
  consecutiveFailures: number;
  /** Start time of the first of the consecutive failures; null while the last tick succeeded. */
  failingSince: Date | null;
  /** Start time of the loop; null before start(). */
  startedAt: Date | null;
}

export interface Periodic {
  readonly name: string;
  readonly state: Readonly<LoopState>;
  /** Starts the loop; the first tick runs immediately. */
  start(): void;
  /** Runs one tick, after the one in flight if any. @throws the error of the tick. */
  tick(): Promise<void>;
  /** Schedules the next tick immediately; concurrent calls are coalesced. No effect before start(). */
  wake(): void;
  /** Aborts the signal of the running tick; settles when no tick runs and no timer is armed. Idempotent. */
  stop(): Promise<void>;
}

/** Creates a periodic loop, the only scheduler of recurring work. Ticks never overlap; a failed tick does not stop the loop. */
export function runPeriodically(tick: Tick, options: PeriodicOptions): Periodic {
  return new Loop(tick, options);
}

// idle -(start, timer, wake)-> running -(end)-> armed | running again (woken, 'again') | idle (stopped)
class Loop implements Periodic {
  readonly state: LoopState = {
    lastRunAt: null,
    lastDurationMs: null,
    lastError: null,
    consecutiveFailures: 0,
    failingSince: null,
    startedAt: null,
  };
  readonly #tick: Tick;
  readonly #options: PeriodicOptions;
  readonly #abort = new AbortController();
  readonly #onSignal = () => this.#halt();
  #started = false;
  #woken = false;
  /** Cancels the scheduled tick. */
  #disarm: (() => void) | undefined;
  /** Settles at the end of the last queued tick; new ticks queue behind it. */
  #tail: Promise<unknown> = Promise.resolve();
  #inLine = 0;

  constructor(tick: Tick, options: PeriodicOptions) {
    this.#tick = tick;
    this.#options = options;
    if (options.signal?.aborted) this.#halt();
    else options.signal?.addEventListener('abort', this.#onSignal, { once: true });
  }

  get name(): string {
    return this.#options.name;
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.state.startedAt = this.#now();
    this.#next(0);
  }

  wake(): void {
    if (!this.#started || this.#abort.signal.aborted) return;
    if (this.#inLine > 0) this.#woken = true;
    else this.#next(0);
  }

  async tick(): Promise<void> {
    await this.#enqueue();
  }

  async stop(): Promise<void> {
    this.#halt();
    while (this.#inLine > 0) await this.#tail;
  }

  #halt(): void {
    this.#options.signal?.removeEventListener('abort', this.#onSignal);
    this.#disarm?.();
    this.#abort.abort();
  }

  #next(delay: number): void {
    this.#disarm?.();
    this.#disarm = undefined;
    if (this.#abort.signal.aborted) return;
    const run = () => {
      this.#disarm = undefined;
      // The failure was already logged and counted.
      this.#enqueue().catch(() => undefined);
    };
    // A timer takes at least one millisecond, which delays an awaited tick.
    if (delay === 0) {
      const soon = setImmediate(run);
      this.#disarm = () => clearImmediate(soon);
    } else {
      const timer = setTimeout(run, delay);
      this.#disarm = () => clearTimeout(timer);
    }
  }

  #enqueue(): Promise<unknown> {
    this.#inLine += 1;
    const run = this.#tail.then(() => this.#run());
    this.#tail = run.then(
      (result) => this.#settled(result === 'again'),
      () => this.#settled(false),
    );
    return run;
  }

  #settled(again: boolean): void {
    this.#inLine -= 1;
    if (!this.#started || this.#inLine > 0) return;
    const { everyMs, jitter = 0.1 } = this.#options;
    const pace = typeof everyMs === 'number' ? everyMs : everyMs();
    if (again || this.#woken) this.#next(0);
    else if (this.#disarm === undefined) this.#next(pace * (1 + jitter * (2 * Math.random() - 1)));
    this.#woken = false;
  }

  async #run(): Promise<unknown> {
    if (this.#abort.signal.aborted) return undefined;
    const { name, metrics, now = () => new Date() } = this.#options;
    const begun = now();
    const stopTimer = metrics?.seconds.startTimer({ loop: name });
    try {
      const result = await this.#tick(this.#abort.signal);
      this.#ended(begun, null);
      metrics?.lastSuccess.set({ loop: name }, now().getTime() / 1000);
      return result;
    } catch (error) {
      if (this.#abort.signal.aborted && (error as { name?: string })?.name === 'AbortError') return undefined;
      this.#failed(begun, error);
      throw error;
    } finally {
      stopTimer?.();
    }
  }

  #ended(begun: Date, error: unknown): void {
    const { name, metrics, now = () => new Date() } = this.#options;
    this.state.lastRunAt = begun;
    this.state.lastDurationMs = now().getTime() - begun.getTime();
    this.state.lastError = error;
    this.state.consecutiveFailures = error === null ? 0 : this.state.consecutiveFailures + 1;
    this.state.failingSince = error === null ? null : (this.state.failingSince ?? begun);
    metrics?.runs.inc({ loop: name, outcome: error === null ? 'ok' : 'error' });
  }

  #now(): Date {
    return (this.#options.now ?? (() => new Date()))();
  }

  #failed(begun: Date, error: unknown): void {
    this.#ended(begun, error);
    const { name, log, onError } = this.#options;
    log.error('loop tick failed', { loop: name, consecutiveFailures: this.state.consecutiveFailures, error });
    onError?.(error);
  }
}
