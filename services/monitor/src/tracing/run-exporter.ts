import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '@pipeline/runtime';
import { type FinishedRun, moveTraceCursor, nextFinishedRuns, type Store } from '@pipeline/store';
import { Counter, type Registry } from 'prom-client';
import type { TraceEndpoint } from './trace-endpoint.ts';

/** Longer than any transaction of the services. */
const SETTLED_MS = 30_000;
const BATCH = 100;
const SEND_WITHIN_MS = 10_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

interface RunExporterDeps {
  endpoint: TraceEndpoint;
  log: Logger;
  registry: Registry;
  now: () => Date;
}

/** A connection to the endpoint, opened by the first batch. */
interface Connection {
  exporter: SpanExporter;
  spansOf(run: FinishedRun): ReadableSpan[];
}

/**
 * Exports finished runs as spans, in the order of their ends, at least once: the cursor moves after the endpoint has
 * accepted a batch. While it accepts none, runs wait in the store, and the pause between attempts grows to 5 minutes.
 */
export class RunExporter {
  readonly #deps: RunExporterDeps;
  readonly #spans: Counter;
  readonly #failures: Counter;
  #connection: Promise<Connection> | undefined;
  #failed = 0;
  #notBefore = 0;

  constructor(deps: RunExporterDeps) {
    this.#deps = deps;
    const registers = [deps.registry];
    this.#spans = new Counter({
      name: 'svc_trace_spans_total',
      help: 'Spans that the trace endpoint accepted.',
      registers,
    });
    this.#failures = new Counter({
      name: 'svc_trace_export_failures_total',
      help: 'Batches of spans that the trace endpoint did not accept; they are sent again.',
      registers,
    });
  }

  /** Exports one batch. @returns whether there may be more to send now. @throws errors of the store. */
  async exportNext(store: Store): Promise<boolean> {
    if (this.#deps.now().getTime() < this.#notBefore) return false;
    const runs = await nextFinishedRuns(store.db, { settledMs: SETTLED_MS, limit: BATCH });
    const last = runs?.at(-1);
    if (!runs || !last) return false;
    if (!(await this.#send(runs))) return false;
    await moveTraceCursor(store.db, last);
    return runs.length === BATCH;
  }

  async stop(): Promise<void> {
    await (await this.#connection)?.exporter.shutdown();
  }

  async #send(runs: readonly FinishedRun[]): Promise<boolean> {
    this.#connection ??= connect(this.#deps.endpoint);
    const { exporter, spansOf } = await this.#connection;
    const spans = runs.flatMap(spansOf);
    const error = await new Promise<Error | null>((resolve) => {
      // Code 0 is success.
      exporter.export(spans, ({ code, error: reason }) =>
        resolve(code === 0 ? null : (reason ?? new Error('refused'))),
      );
    });
    if (error) this.#pause(error);
    else this.#resume(spans.length);
    return error === null;
  }

  #pause(error: Error): void {
    const { log, now, endpoint } = this.#deps;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failed);
    this.#failed += 1;
    this.#failures.inc();
    this.#notBefore = now().getTime() + pauseMs;
    // Only the first: an endpoint that is away for a day would fill the log.
    if (this.#failed === 1) log.warn('traces are not accepted; runs wait to be exported', { url: endpoint.url, error });
  }

  #resume(spans: number): void {
    if (this.#failed > 0) this.#deps.log.info('traces are accepted again', { attempts: this.#failed });
    this.#failed = 0;
    this.#spans.inc(spans);
  }
}

/** The libraries are loaded by monitors that export, and no others: they cost memory and start time. */
async function connect({ url, headers, serviceName }: TraceEndpoint): Promise<Connection> {
  const [{ OTLPTraceExporter }, { resourceFromAttributes }, { spansOf }] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('./run-spans.ts'),
  ]);
  const resource = resourceFromAttributes({ 'service.name': serviceName });
  return {
    exporter: new OTLPTraceExporter({ url, headers, timeoutMillis: SEND_WITHIN_MS }),
    spansOf: (run) => spansOf(run, resource),
  };
}
