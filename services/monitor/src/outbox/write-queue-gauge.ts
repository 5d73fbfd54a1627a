import { type Store, writeQueueByRepo } from '@pipeline/store';
import { Gauge, type Registry } from 'prom-client';

/** Pending host writes at the last poll: a queue without progress does not show in a histogram of completed writes. */
export function writeQueueGauge(registry: Registry, store: Store): { look(): Promise<void> } {
  const gauge = new Gauge({
    name: 'svc_projections',
    help: 'Number of pending and failed outbox entries, as of the last scan.',
    labelNames: ['repo', 'status'],
    registers: [registry],
  });
  return {
    async look() {
      const counts = await writeQueueByRepo(store.db);
      gauge.reset();
      // Slugs of several tenants may be equal.
      for (const { repo, status, count } of counts) gauge.inc({ repo, status }, count);
    },
  };
}
