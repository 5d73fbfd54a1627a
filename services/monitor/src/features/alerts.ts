import { type Engine, runDetectors, writeDailyDigest } from '@pipeline/engine';
import { AlertDeliverer } from '../alerts/deliverer.ts';
import { OutageWatch } from '../alerts/outage.ts';
import { Lead } from '../loops/lead.ts';
import type { ConsistencyCache } from './consistency.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** Number of rounds between updates of the measured value of open alerts; each update is a write. */
const REFRESH_EVERY = 10;

/** The detectors and the notifications. One of all monitors runs them, except for the outage of the store. */
export function addAlerts(wiring: Wiring, { consistency }: { consistency: ConsistencyCache }): void {
  const { engine, notifications, loops, log, now, variables, storeWatch, instance, hosts } = wiring;
  const lead = new Lead(notifications, 'alert-detectors');
  let round = 0;
  const detect = async (leading: Engine) => {
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
  loops.add('alert-detectors', 60 * SECOND_MS, () => lead.run(engine, detect));
  const channels = { variables, log, now };
  const deliverer = new AlertDeliverer({ engine, lead: new Lead(notifications, 'alert-deliveries'), ...channels });
  loops.add('alert-deliveries', 5 * SECOND_MS, () => deliverer.tick());
  const digestLead = new Lead(notifications, 'daily-digest');
  loops.add('daily-digest', 60 * SECOND_MS, () => digestLead.run(engine, writeDailyDigest));
  const outage = new OutageWatch({ engine, storeWatch, instance, ...channels });
  loops.addAlways('store-outage', 5 * SECOND_MS, () => outage.tick());
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
