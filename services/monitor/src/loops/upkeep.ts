import {
  autoUnblock,
  drainInbox,
  type Engine,
  enforceBudgets,
  enqueueDueScans,
  foldCounts,
  type HostOf,
  reclaimExpired,
  reclaimStalled,
  releaseDue,
  releaseWaiting,
  watchSilence,
  watchSla,
} from '@pipeline/engine';
import { deleteOldDeliveries, deleteOldPeriods } from '@pipeline/store';
import type { Lead } from './lead.ts';

/** A host repeats a delivery for three days at most. */
const DELIVERIES_KEPT_MS = 7 * 24 * 60 * 60_000;

/** Reports look back over weeks. */
const PERIODS_KEPT_MS = 90 * 24 * 60 * 60_000;

/** Takes up webhooks in their order, so only one replica does. */
export const inboxTick = (engine: Engine, hostOf: HostOf, lead: Lead) => async () => {
  if ((await lead.hold()) === null) return undefined;
  return (await drainInbox(engine, hostOf)) > 0 ? 'again' : undefined;
};

/** Enqueues the scans of repos that are due; one replica looks after all. */
export const scansTick = (engine: Engine, lead: Lead) => async () => {
  if ((await lead.hold()) !== null) await enqueueDueScans(engine);
};

// These act on each row by compare-and-set, so any number of replicas may run them at once.
export const reclaimTick = (engine: Engine) => () => reclaimExpired(engine);
export const stalledTick = (engine: Engine) => () => reclaimStalled(engine);
export const silenceTick = (engine: Engine) => () => watchSilence(engine);
export const releaseDueTick = (engine: Engine) => () => releaseDue(engine);
export const autoUnblockTick = (engine: Engine) => () => autoUnblock(engine);
export const budgetsTick = (engine: Engine) => async () => ((await enforceBudgets(engine)) ? 'again' : undefined);
export const releaseWaitingTick = (engine: Engine) => () => releaseWaiting(engine);
export const foldTick = (engine: Engine) => () => foldCounts(engine);
export const slaTick = (engine: Engine) => async () => ((await watchSla(engine)).more ? 'again' : undefined);
export const retentionTick = (engine: Engine) => async () => {
  await deleteOldDeliveries(engine.store.fleet, DELIVERIES_KEPT_MS);
  await deleteOldPeriods(engine.store.fleet, PERIODS_KEPT_MS);
};
