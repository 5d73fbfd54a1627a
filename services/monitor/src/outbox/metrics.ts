import { Counter, Histogram, type Registry } from 'prom-client';

export interface OutboxMetrics {
  attempts: Counter<'type' | 'outcome'>;
  lag: Histogram;
}

/** Registers the metrics of attempts to write to a host and returns them. */
export function createOutboxMetrics(registry: Registry): OutboxMetrics {
  const registers = [registry];
  return {
    attempts: new Counter({
      name: 'svc_projection_attempts_total',
      help: 'Attempts to deliver an outbox entry to the host.',
      labelNames: ['type', 'outcome'],
      registers,
    }),
    lag: new Histogram({
      name: 'svc_projection_lag_seconds',
      help: 'Time from the change in the store until it is written to the host.',
      buckets: [0.1, 0.5, 1, 2, 5, 15, 60, 300, 1_800, 7_200],
      registers,
    }),
  };
}
