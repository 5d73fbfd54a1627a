import { type Metrics, registerReadGauge } from '@pipeline/runtime';
import type { ReplicaWatch } from '@pipeline/store';

/** The state of the replica for reads, as of the last check. */
export function registerReplicaGauges(registry: Metrics['registry'], watch: ReplicaWatch): void {
  const lag = 'Seconds that the replica for reads is behind the primary; NaN while it cannot be read.';
  registerReadGauge(registry, 'svc_replica_lag_seconds', lag, () => watch.lagSeconds);
  const used = '1 while reads use the replica, 0 while they use the primary.';
  registerReadGauge(registry, 'svc_replica_used', used, () => (watch.isUsable ? 1 : 0));
}
