import { type Logger, type LoopMetrics, type Periodic, runPeriodically } from '@pipeline/runtime';
import { type PruneAges, pruneOauth, type Store } from '@pipeline/store';

const EVERY_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** Ended connections are kept for a while, because operators look up the reason. */
const AGES: PruneAges = { unusedClientMs: DAY_MS, endedConnectionMs: 90 * DAY_MS };

interface PruneDeps {
  storeReady: () => boolean;
  log: Logger;
  metrics: LoopMetrics;
}

/** Deletes tokens, sessions and clients that can no longer be used. Replicas may do it at the same time. */
export function oauthPruning(store: Store, { storeReady, log, metrics }: PruneDeps): Periodic {
  const tick = async () => {
    if (!storeReady()) return undefined;
    const { deleted, more } = await pruneOauth(store.db, AGES);
    if (Object.values(deleted).some((count) => count > 0)) log.info('pruned', deleted);
    return more ? ('again' as const) : undefined;
  };
  return runPeriodically(tick, { name: 'oauth-pruning', everyMs: EVERY_MS, log, metrics });
}
