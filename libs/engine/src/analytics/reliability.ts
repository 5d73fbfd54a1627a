import { ratio, type Window, windowRange } from '@pipeline/domain';
import { degradedSeconds, reliabilityByRepo, retrospectiveCounts, storeNow } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { findScope, type ScopeQuery } from './scope.ts';
import { slugsOf } from './slugs.ts';

const WINDOW_DAYS = 7;

/** Reliability of each repo in the last seven days, and the fleet's degraded time. */
export async function weeklyReliability(engine: Engine, asked: ScopeQuery) {
  const { db } = engine.store;
  const scope = await findScope(engine, asked);
  const { start } = windowRange(`${WINDOW_DAYS}d`, new Date(await storeNow(db)));
  const rows = await reliabilityByRepo(db, scope, start);
  const slugs = await slugsOf(db, scope);
  return {
    windowDays: WINDOW_DAYS as 7,
    repos: rows.map((row) => ({
      repo: slugs.get(row.repoId) ?? '',
      completedCount: row.completed,
      recoveredCount: row.recovered,
      cycleTime: { p50Seconds: row.p50Seconds, p90Seconds: row.p90Seconds },
      deadLetters: { count: row.deadLetters },
      retryBudget: { tasksRetried: row.tasksRetried, totalRetriesConsumed: row.totalRetries },
    })),
    degradedSeconds: await degradedSeconds(db, start.toISOString()),
  };
}

/** Results of the retrospectives of a window: drift from the plan, and classification. */
export async function retrospectiveSummary(engine: Engine, asked: ScopeQuery & { window: Window }) {
  const { db } = engine.store;
  const scope = await findScope(engine, asked);
  const serverTimestamp = await storeNow(db);
  const { start } = windowRange(asked.window, new Date(serverTimestamp));
  const rows = await retrospectiveCounts(db, scope, start);
  const withFileData = rows.reduce((sum, row) => sum + row.withFiles, 0);
  const drifted = rows.reduce((sum, row) => sum + row.more + row.fewer, 0);
  const classified = rows.flatMap(({ outcome, all }) => (outcome === null ? [] : [[outcome, all] as const]));
  return {
    window: asked.window,
    planDriftRatio: ratio(drifted, withFileData),
    withFileData,
    byOutcome: Object.fromEntries(classified),
    serverTimestamp,
  };
}
