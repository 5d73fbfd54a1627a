import { percent, roundToTenth, scoreboardStart } from '@pipeline/domain';
import { type AgentScore, agentScores, storeNow } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { findScope, type ScopeQuery } from './scope.ts';

interface ScoreboardQuery extends ScopeQuery {
  /** Hours or days, as `SCOREBOARD_WINDOW` describes. */
  window: string;
  /** All merged issues, or those whose develop task was given to its agent by a comparison. */
  tasks: 'all' | 'compared';
}

/** Merged issues, their quality, time and cost by agent and model within a window. */
export async function agentScoreboard(engine: Engine, asked: ScoreboardQuery) {
  const { db } = engine.store;
  const { window, tasks } = asked;
  const scope = await findScope(engine, asked);
  const serverTimestamp = await storeNow(db);
  const end = new Date(serverTimestamp);
  const range = { start: scoreboardStart(window, end), end };
  const rows = await agentScores(db, scope, { ...range, comparedOnly: tasks === 'compared' });
  return { window, tasks, items: rows.map(shown), serverTimestamp };
}

const shown = ({ passedReview, passedChecks, wallTimeMs, ...row }: AgentScore) => ({
  ...row,
  // Every entry has at least one merged issue.
  firstPassReviewPct: percent(passedReview, row.mergedIssues) ?? 0,
  firstPassCiPct: percent(passedChecks, row.checkedIssues),
  wallTimeMinutes: roundToTenth(wallTimeMs / 60_000),
});
