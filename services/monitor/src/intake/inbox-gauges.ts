import { inboxBacklog, type Store } from '@pipeline/store';
import { Gauge, type Registry } from 'prom-client';

/** Registers gauges of how far the handling of webhook deliveries is behind, as of the last read. */
export function inboxGauges(registry: Registry, store: Store): { refresh(): Promise<void> } {
  const registers = [registry];
  const lag = new Gauge({
    name: 'svc_inbox_lag_seconds',
    help: 'Age of the oldest webhook delivery that is due; 0 when none is pending.',
    registers,
  });
  const deliveries = new Gauge({
    name: 'svc_inbox_deliveries',
    help: 'Number of webhook deliveries that are pending or waiting for a retry.',
    labelNames: ['status'],
    registers,
  });
  return {
    async refresh() {
      const { waiting, retrying, lagSeconds } = await inboxBacklog(store.db);
      lag.set(lagSeconds);
      deliveries.set({ status: 'waiting' }, waiting);
      deliveries.set({ status: 'retrying' }, retrying);
    },
  };
}
