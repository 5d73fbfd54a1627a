import { Gauge, type Registry } from 'prom-client';

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

interface GaugeOf {
  name: string;
  help: string;
  labels: readonly string[];
  /** `summary` is what the text format calls figures with a `quantile`. */
  type?: 'summary';
  /** Reads the current samples from memory; rows with the same labels are added up. */
  read: () => Iterable<Sample>;
}

/** Gauges that each scrape reads from memory, without a query. */
export function registerGauges(registry: Registry, gauges: readonly GaugeOf[]): void {
  for (const { name, help, labels, read, type } of gauges) {
    const gauge = new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const [values, value] of read()) this.inc(values, value);
      },
    });
    if (type) Object.assign(gauge, { type });
  }
}
