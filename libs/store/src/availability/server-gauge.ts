import { type Metrics, registerReadGauge } from '@pipeline/runtime';
import type { Store } from '../driver/connection.ts';

/**
 * Registers a gauge of the server of DATABASE_URL that this process writes to. Different values of two processes mean
 * two primaries.
 */
export function registerServerGauge(registry: Metrics['registry'], store: Store): void {
  const help =
    'Position in DATABASE_URL, from 1, of the server that accepted the last connection for writes; NaN before the first.';
  registerReadGauge(registry, 'svc_store_server', help, () => store.server?.position ?? null);
}
