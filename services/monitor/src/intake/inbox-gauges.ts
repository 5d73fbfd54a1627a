import { inboxBacklog, type Store } from '@pipeline/store';
import { Gauge, type Registry } from 'prom-client';

/** How far the handling of webhook deliveries is behind, as of the last read. */
export function inboxGauges(registry: Registry, store: Store): { refresh(): Promise<void> } {
  const registers = [registry];
  const lag = new Gauge({
    name: 'svc_inbox_lag_seconds',
    help: 'Age of the oldest webhook delivery that may be handled now; 0 when none waits.',
    registers,
  });
  const deliveries = new Gauge({
    name: 'svc_inbox_deliveries',
    help: 'Webhook deliveries that wait to be handled, or failed and wait for their next attempt.',
    labelNames: ['status'],
    registers,
  });
  return {
    async refresh() {
      const { waiting, retrying, lagSeconds } = await inboxBacklog(store.fleet);
      lag.set(lagSeconds);
      deliveries.set({ status: 'waiting' }, waiting);
      deliveries.set({ status: 'retrying' }, retrying);
    },
  };
}
