import type { Readiness } from '@pipeline/contract';
import type { Pipeline } from './pipeline.ts';

/** Whether a monitor should get traffic; `null` = no store is configured, so none is needed. */
export function readinessOf(pipeline: Pick<Pipeline, 'storeWatch' | 'health'> | null): Readiness {
  if (pipeline === null) {
    return { status: 'ready', store: 'not-configured', poll: 'off', outbox: 'off', stream: 'off', loops: [] };
  }
  const { state, isConnected } = pipeline.storeWatch;
  const health = pipeline.health();
  const isReady = isConnected && health.stream === 'ok' && health.loops.length === 0;
  return { status: isReady ? 'ready' : 'not-ready', store: state, ...health };
}
