import type { ReplicaWatch } from '@pipeline/store';
import { Gauge, type Registry } from 'prom-client';

/** The state of the replica for reads, as of the last check. */
export function registerReplicaGauges(registry: Registry, watch: ReplicaWatch): void {
  const registers = [registry];
  new Gauge({
    name: 'svc_replica_lag_seconds',
    help: 'Seconds that the replica for reads is behind the primary; NaN while it cannot be read.',
    registers,
    collect() {
      this.set(watch.lagSeconds ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'svc_replica_used',
    help: '1 while reads use the replica, 0 while they use the primary.',
    registers,
    collect() {
      this.set(watch.isUsable ? 1 : 0);
    },
  });
}
