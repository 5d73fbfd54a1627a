import { type Engine, runDetectors } from '@pipeline/engine';
import type { ConsistencyCache } from '../consistency/consistency-cache.ts';
import type { ConnectedHost } from '../hosts/hosts.ts';

/** Number of rounds between updates of the measured value of open alerts; each update is a write. */
const REFRESH_EVERY = 10;

interface Sources {
  consistency: ConsistencyCache;
  hosts: readonly ConnectedHost[];
}

/** Returns the function that runs all detectors once. It throws when one failed, after the others have run. */
export function detectorRounds({ consistency, hosts }: Sources): (leading: Engine) => Promise<void> {
  let round = 0;
  return async (leading) => {
    const readings = {
      driftByRepo: driftOf(consistency),
      limitedMinutes: new Map(hosts.map(({ kind, rate }) => [kind, rate.limitedMinutes()])),
    };
    const failed = await runDetectors(leading, readings, { refresh: round % REFRESH_EVERY === 0 });
    round += 1;
    const [first] = failed;
    if (first)
      throw new Error(`detectors failed: ${failed.map(({ detector }) => detector).join(', ')}`, { cause: first.error });
  };
}

/** Label drift by repo; null before the first check of consistency. */
function driftOf(consistency: ConsistencyCache): Map<string, number> | null {
  if (consistency.page({ limit: 1, offset: 0 }).page.total === null) return null;
  const drift = new Map<string, number>();
  for (const { kind, repoOwner, repoName } of consistency.all()) {
    const repo = `${repoOwner}/${repoName}`;
    if (kind === 'label_drift') drift.set(repo, (drift.get(repo) ?? 0) + 1);
  }
  return drift;
}
