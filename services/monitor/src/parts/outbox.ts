import { Counter, Histogram, type Registry } from 'prom-client';
import { Lead } from '../loops/lead.ts';
import { ProjectionExecutor } from '../loops/projections.ts';
import { writeQueueGauge } from '../write-queue-gauge.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

export interface OutboxMetrics {
  attempts: Counter<'type' | 'outcome'>;
  lag: Histogram;
}

/** Writes to the hosts: one executor for each host, each with a lead of its own. */
export function addOutbox({ engine, hosts, doorbell, loops, metrics, store, log, now }: Wiring) {
  loops.add('write-queue', 15 * SECOND_MS, writeQueueGauge(metrics.registry, store).look);
  const outboxMetrics = createOutboxMetrics(metrics.registry);
  const executors = hosts.map(({ kind, vcs, budget }) => {
    const lead = new Lead(doorbell, `projections:${kind}`);
    const executor = new ProjectionExecutor({ engine, host: vcs, lead, budget, metrics: outboxMetrics, log, now });
    const loop = loops.add(`projections-${kind}`, 2 * SECOND_MS, () => executor.tick());
    executor.onLanded = () => loop.wake();
    doorbell.on('svc_projections', () => loop.wake());
    return { executor, name: loop.name };
  });
  return {
    loops: executors.map(({ name }) => name),
    landed: () => Promise.all(executors.map(({ executor }) => executor.landed())),
    stop: () => Promise.all(executors.map(({ executor }) => executor.stop())),
  };
}

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
