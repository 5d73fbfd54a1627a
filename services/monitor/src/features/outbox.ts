import { Lead } from '../loops/lead.ts';
import { createOutboxMetrics } from '../outbox/metrics.ts';
import { ProjectionExecutor } from '../outbox/projections.ts';
import { writeQueueGauge } from '../outbox/write-queue-gauge.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** Writes to the hosts: one executor for each host, each with a lead of its own. */
export function addOutbox({ engine, hosts, notifications, loops, metrics, store, log, now }: Wiring) {
  loops.add('write-queue', 15 * SECOND_MS, writeQueueGauge(metrics.registry, store).look);
  const outboxMetrics = createOutboxMetrics(metrics.registry);
  const executors = hosts.map(({ kind, vcs, budget }) => {
    const lead = new Lead(notifications, `projections:${kind}`);
    const executor = new ProjectionExecutor({ engine, host: vcs, lead, budget, metrics: outboxMetrics, log, now });
    const loop = loops.add(`projections-${kind}`, 2 * SECOND_MS, () => executor.tick());
    executor.onLanded = () => loop.wake();
    notifications.on('svc_projections', () => loop.wake());
    return { executor, name: loop.name };
  });
  return {
    loops: executors.map(({ name }) => name),
    landed: () => Promise.all(executors.map(({ executor }) => executor.landed())),
    stop: () => Promise.all(executors.map(({ executor }) => executor.stop())),
  };
}
