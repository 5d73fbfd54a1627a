import { Lead } from '../loops/lead.ts';
import { RunExporter } from '../tracing/run-exporter.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

const EXPORT_EVERY_MS = 5 * SECOND_MS;

/** The export of finished runs as traces, by one monitor for all; without an endpoint there is none. */
export function addTracing({ engine, traceEndpoint, notifications, loops, metrics, log, now }: Wiring) {
  if (!traceEndpoint) return { stop: async () => undefined };
  const exporter = new RunExporter({ endpoint: traceEndpoint, log, registry: metrics.registry, now });
  const lead = new Lead(notifications, 'trace-export');
  loops.add('trace-export', EXPORT_EVERY_MS, () =>
    lead.run(engine, async ({ store }) => ((await exporter.exportNext(store)) ? 'again' : undefined)),
  );
  return { stop: () => exporter.stop() };
}
