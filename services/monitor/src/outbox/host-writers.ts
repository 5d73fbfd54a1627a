import type { Wiring } from '../wiring/wiring.ts';
import { createOutboxMetrics } from './metrics.ts';
import { ProjectionExecutor } from './projections.ts';

/** Creates the executor of the writes to each host, each with a leader lock of its own. */
export function createHostWriters({ engine, hosts, loops, lead: leadOf, metrics, log, now }: Wiring) {
  const outboxMetrics = createOutboxMetrics(metrics.registry);
  return hosts.map(({ kind, vcs, budget }) => {
    const lead = leadOf(`projections:${kind}`);
    const executor = new ProjectionExecutor({ engine, host: vcs, lead, budget, metrics: outboxMetrics, log, now });
    const loop = `projections-${kind}`;
    executor.onLanded = () => loops.wake(loop);
    return { loop, executor, lead };
  });
}
