import { type DailyDigest, DEPLOYMENT, type RegressedKpi, utcDate, worstOf } from '@pipeline/domain';
import {
  channelsWithoutDigest,
  digestCounts,
  insertDigest,
  type KpiRow,
  latestKpis,
  recentErrors,
  type Store,
  spentInDays,
  storeNow,
  troublesOf,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { channelKey } from './alerts.ts';

const MAX_ERRORS = 50;
const MAX_KPIS = 10;

/**
 * The daily digest over all tenants: the route's response, and the content sent to channels once a day. Some ten
 * statements, each bounded by a day of failures, by the guard's snapshots, or by a week of the regressed repos.
 */
export async function readDigest(store: Store): Promise<DailyDigest> {
  const { db } = store;
  const counts = await digestCounts(db);
  const worst = worstOf(await latestKpis(db), MAX_KPIS);
  return {
    date: utcDate(new Date(await storeNow(db))),
    pipelineByState: Object.fromEntries(counts.map(({ state, repo, n }) => [`${state}:${repo}`, n])),
    blockedCount: counts.reduce((sum, { blocked }) => sum + blocked, 0),
    recentErrors: await recentErrors(db, MAX_ERRORS),
    dailyCostUsd: await spentInDays(db, 1),
    monthlyCostUsd: await spentInDays(db, 30),
    topRegressedKpis: await explained(store, worst),
  };
}

/** A repo is queried once, however many of its KPIs regressed. */
async function explained(store: Store, worst: readonly KpiRow[]): Promise<RegressedKpi[]> {
  const repos = new Map(worst.map(({ tenantId, repoId }) => [repoId, { tenantId, repoId }]));
  const found = await Promise.all(
    [...repos.values()].map(async (repo) => [repo.repoId, await troublesOf(store.db, repo)] as const),
  );
  const troubles = new Map(found);
  return worst.map((row) => ({
    owner: row.owner,
    repo: row.repo,
    kpi: row.kpi,
    magnitude: row.magnitude,
    currentSampleSize: row.currentSampleSize,
    baselineSampleSize: row.baselineSampleSize,
    topBlockReasons: troubles.get(row.repoId)?.blockReasons ?? [],
    topFingerprints: troubles.get(row.repoId)?.fingerprints ?? [],
  }));
}

/**
 * Writes the daily digest for each channel that wants it and has none of this UTC day yet; one monitor sends it, like
 * alerts. A day without a call has none, because the figures are current ones. May run anywhere, any number of times. A
 * round without a digest to write costs a probe for each channel.
 */
export async function writeDailyDigest(engine: Engine): Promise<void> {
  const wanting = engine.settings().alertChannels.filter((channel) => channel.digest !== false);
  const configured = [...new Set(wanting.map(channelKey))];
  if (configured.length === 0) return;
  const { db } = engine.store;
  const channels = await channelsWithoutDigest(db, configured, utcDate(new Date(await storeNow(db))));
  if (channels.length === 0) return;
  const digest = await readDigest(engine.store);
  await inTenant(engine, DEPLOYMENT, ({ tx }) => insertDigest(tx, digest, channels));
}
