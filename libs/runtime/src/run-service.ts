import { z } from 'zod';
import { commonEnv, EnvError, parseEnv } from './env.ts';
import { createLogger, type Logger } from './logger.ts';
import { createMetrics, type Metrics, serveMetrics } from './metrics.ts';
import { withDeadline } from './sleep.ts';
import { EXIT_CONFIG, StartError } from './start-error.ts';

interface Part {
  name: string;
  stop: () => Promise<unknown> | unknown;
}

const STOP_WITHIN_MS = 10_000;
const FLUSH_WITHIN_MS = 1_000;
/** Two signals within this time are treated as one: a terminal signals the whole group, and npm forwards its own copy. */
const SAME_WISH_MS = 1_000;

export interface ServiceContext<E> {
  env: E;
  log: Logger;
  metrics: Metrics;
  /** Aborted when the process begins to stop. */
  signal: AbortSignal;
  /** Registers started components; they are stopped in reverse order. */
  stack: StopStack;
  /** Registers a SIGHUP handler; without one SIGHUP terminates the process. */
  onHangup(handler: () => void): void;
}

interface ServiceOptions<S extends z.ZodRawShape> {
  /** Name of the process, in logs and as the name of its log file. */
  name: string;
  /** zod shape keyed by variable name, in addition to commonEnv. */
  schema: S;
  env: Readonly<Record<string, string | undefined>>;
  /** Resolves when the service accepts requests. */
  start(context: ServiceContext<z.output<z.ZodObject<S & typeof commonEnv>>>): Promise<void>;
  /** Default 10 s. */
  stopWithinMs?: number;
  /** Default: JSON lines on standard output, and in LOG_DIR. */
  log?: Logger;
}

/**
 * Runs a process: reads the environment, starts, waits for SIGTERM or SIGINT, stops within the deadline.
 * Exits with 0 (stopped), 78 (invalid configuration) or 1 (failed, or did not stop in time).
 * A second signal, at least one second after the first, exits immediately.
 */
export async function runService<S extends z.ZodRawShape>(options: ServiceOptions<S>): Promise<void> {
  const env = readEnv(options);
  const { LOG_LEVEL, LOG_DIR, METRICS_PORT, METRICS_HOST } = env as z.output<z.ZodObject<typeof commonEnv>>;
  const log = options.log ?? createLogger({ process: options.name, level: LOG_LEVEL, dir: LOG_DIR });
  const life = new Life(log, options.stopWithinMs ?? STOP_WITHIN_MS);
  life.listen();
  try {
    const metrics = createMetrics({ processMetrics: true });
    if (METRICS_PORT !== undefined) {
      const served = await serveMetrics(metrics.registry, { host: METRICS_HOST, port: METRICS_PORT });
      life.stack.add('metrics server', served.close);
      log.info('metrics', { url: `${served.url}/metrics` });
    }
    const onHangup = (handler: () => void) => void process.on('SIGHUP', handler);
    await options.start({ env, log, metrics, signal: life.signal, stack: life.stack, onHangup });
  } catch (error) {
    await life.failed(error);
  }
}

function readEnv<S extends z.ZodRawShape>({ name, schema, env }: ServiceOptions<S>) {
  try {
    return parseEnv(z.object({ ...commonEnv, ...schema }), env) as z.output<z.ZodObject<S & typeof commonEnv>>;
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    process.stderr.write(error.problems.map((problem) => `${name}: ${problem}\n`).join(''));
    process.exit(EXIT_CONFIG);
  }
}

class Life {
  readonly stack = new StopStack();
  readonly #log: Logger;
  readonly #stopWithinMs: number;
  readonly #abort = new AbortController();
  #ending = false;
  #endingSince = 0;
  #exitCode = 0;

  constructor(log: Logger, stopWithinMs: number) {
    this.#log = log;
    this.#stopWithinMs = stopWithinMs;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  listen(): void {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => void this.#onSignal(name));
    process.on('unhandledRejection', (error) => void this.failed(error));
    process.on('uncaughtException', (error) => void this.failed(error));
  }

  async failed(error: unknown): Promise<void> {
    if (error instanceof StartError) {
      this.#log.fatal(error.message, { cause: error.cause });
      process.stderr.write(`${error.message}\n`);
      await this.#end(error.exitCode);
    } else {
      this.#log.fatal('the process failed', { error });
      await this.#end(1);
    }
  }

  async #onSignal(name: string): Promise<void> {
    if (this.#ending) {
      if (performance.now() - this.#endingSince < SAME_WISH_MS) return;
      this.#log.warn('second signal: stopping immediately', { signal: name });
      process.exit(1);
    }
    this.#log.info('stopping', { signal: name });
    await this.#end(0);
  }

  async #end(code: number): Promise<void> {
    this.#exitCode ||= code;
    // A failure during shutdown changes the exit code and does not interrupt the shutdown.
    if (this.#ending) return;
    this.#ending = true;
    this.#endingSince = performance.now();
    this.#abort.abort();
    try {
      await withDeadline(this.stack.stop(), this.#stopWithinMs, 'stopping');
      this.#log.info('stopped');
    } catch (error) {
      this.#exitCode ||= 1;
      this.#log.error('did not stop cleanly', { error });
    }
    await withDeadline(this.#log.close(), FLUSH_WITHIN_MS, 'writing the log').catch(() => undefined);
    process.exit(this.#exitCode);
  }
}

/** Registry of started components, stopped in reverse order. */
export class StopStack {
  readonly #parts: Part[] = [];
  #stopping: Promise<void> | undefined;
  #stopped = false;

  /** Registers a component; after shutdown it is stopped immediately. */
  add(name: string, stop: Part['stop']): void {
    this.#parts.push({ name, stop });
    if (this.#stopped) this.#stopping = this.#stopAll();
  }

  /**
   * Stops all components one after the other and continues after failures. Repeated calls return the same promise.
   * @throws AggregateError of all failures, each naming its component.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const errors: unknown[] = [];
    // A start in progress may register components during shutdown; the loop stops them too.
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) {
      await attempt(part).catch((error: unknown) => errors.push(error));
    }
    this.#stopped = true;
    if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => (error as Error).message).join('; '));
  }
}

async function attempt({ name, stop }: Part): Promise<void> {
  try {
    await stop();
  } catch (cause) {
    throw new Error(`${name} did not stop cleanly`, { cause });
  }
}
