import type { Wiring } from '../wiring/wiring.ts';
import { createOutboxMetrics } from './metrics.ts';
import { ProjectionExecutor } from './projections.ts';

/** Creates the executor of the writes to each host. */
export function createHostWriters({ engine, hosts, loops, leader, metrics, log, now }: Wiring) {
  const outboxMetrics = createOutboxMetrics(metrics.registry);
  return hosts.map(({ kind, vcs, budget }) => {
    const executor = new ProjectionExecutor({ engine, host: vcs, leader, budget, metrics: outboxMetrics, log, now });
    const loop = `projections-${kind}`;
    executor.onLanded = () => loops.wake(loop);
    return { loop, executor };
  });
}
