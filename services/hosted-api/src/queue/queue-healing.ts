import { type Engine, handleEach, reclaimExpired, releaseDue } from '@pipeline/engine';
import { type Logger, type LoopMetrics, type Periodic, runPeriodically } from '@pipeline/runtime';

const EVERY_MS = 5_000;

const HEALING = [
  { of: 'expired claims', heal: reclaimExpired },
  { of: 'held tasks', heal: releaseDue },
];

/**
 * Takes back claims whose worker fell silent and releases tasks whose backoff is over. The monitor does the same; each
 * row is acted on by compare-and-set, so the queue heals as long as any process of either kind runs.
 */
export function queueHealing(
  engine: Engine,
  { storeReady, log, metrics }: { storeReady: () => boolean; log: Logger; metrics: LoopMetrics },
): Periodic {
  const tick = async () => {
    // The store watch has already logged that the store is unavailable.
    if (!storeReady()) return;
    await handleEach('queue healing', HEALING, ({ heal }) => heal(engine));
  };
  return runPeriodically(tick, { name: 'queue-healing', everyMs: EVERY_MS, log, metrics });
}
