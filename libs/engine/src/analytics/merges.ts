import { datesOf, percent, previousRange, ratio, roundToTenth, type Window, windowRange } from '@pipeline/domain';
import { mergedIssues, mergedPullRequests, storeNow } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { findScope, type ScopeQuery } from './scope.ts';

interface Merged {
  merged: number;
  autonomous: number;
}

const sumOf = (rows: readonly Merged[]): Merged =>
  rows.reduce((sum, row) => ({ merged: sum.merged + row.merged, autonomous: sum.autonomous + row.autonomous }), {
    merged: 0,
    autonomous: 0,
  });

/** Merged issues and how many were autonomous, by day, compared with the preceding window. */
export async function autonomy(engine: Engine, asked: ScopeQuery & { window: Window }) {
  const { db } = engine.store;
  const scope = await findScope(engine, asked);
  const serverTimestamp = await storeNow(db);
  const range = windowRange(asked.window, new Date(serverTimestamp));
  const rows = await mergedIssues(db, scope, { before: previousRange(range).start, ...range });
  const current = rows.filter(({ inWindow }) => inWindow);
  const total = sumOf(current);
  const rate = percent(total.autonomous, total.merged) ?? 0;
  const previous = sumOf(rows.filter(({ inWindow }) => !inWindow));
  const previousRate = percent(previous.autonomous, previous.merged) ?? 0;
  const byDate = Map.groupBy(current, ({ date }) => date);
  return {
    window: asked.window,
    mergedIssues: total.merged,
    fullyAutonomousIssues: total.autonomous,
    ratePct: rate,
    byDay: datesOf(range).map((date) => ({ date, ...sumOf(byDate.get(date) ?? []) })),
    weekOverWeek: {
      current: { ratePct: rate, mergedIssues: total.merged },
      previous: { ratePct: previousRate, mergedIssues: previous.merged },
      deltaPp: roundToTenth(rate - previousRate),
    },
    serverTimestamp,
  };
}

/** Counts the pull requests that were merged within a window: by agents and by people. */
export async function attribution(engine: Engine, asked: ScopeQuery & { window: Window }) {
  const { db } = engine.store;
  const scope = await findScope(engine, asked);
  const serverTimestamp = await storeNow(db);
  const { merged, byAgents } = await mergedPullRequests(
    db,
    scope,
    windowRange(asked.window, new Date(serverTimestamp)),
  );
  return {
    window: asked.window,
    mergedPrs: merged,
    agentPrs: byAgents,
    humanPrs: merged - byAgents,
    agentRatio: ratio(byAgents, merged),
    agentPct: percent(byAgents, merged),
    humanPct: percent(merged - byAgents, merged),
    serverTimestamp,
  };
}
