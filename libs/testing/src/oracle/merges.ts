import { datesOf, utcDate, type Window, windowMs, windowRange } from '@pipeline/domain';
import { percentOf, round } from './arithmetic.ts';
import { metric } from './metrics/metric.ts';
import { pullsByIssue } from './metrics/pull-requests.ts';
import { iso } from './names.ts';
import type { Rows } from './rows.ts';

/** Lists the first merge of each issue, and whether it was autonomous. */
const firstMerges = (rows: Rows): { at: number; isAutonomous: boolean }[] =>
  pullsByIssue(rows).flatMap(({ firstMergedAt: at, isAutonomous }) => (at === null ? [] : [{ at, isAutonomous }]));

const countsOf = (merges: { isAutonomous: boolean }[]) => ({
  merged: merges.length,
  autonomous: merges.filter(({ isAutonomous }) => isAutonomous).length,
});

export function autonomyOf(rows: Rows, window: Window, now: number) {
  const all = firstMerges(rows);
  const from = now - windowMs(window);
  const current = all.filter(({ at }) => at >= from && at <= now);
  const previous = countsOf(all.filter(({ at }) => at >= from - windowMs(window) && at < from));
  const counts = countsOf(current);
  const rate = percentOf(counts.autonomous, counts.merged) ?? 0;
  const previousRate = percentOf(previous.autonomous, previous.merged) ?? 0;
  return {
    window,
    mergedIssues: counts.merged,
    fullyAutonomousIssues: counts.autonomous,
    ratePct: rate,
    byDay: datesOf(windowRange(window, new Date(now))).map((date) => ({
      date,
      ...countsOf(current.filter(({ at }) => utcDate(new Date(at)) === date)),
    })),
    weekOverWeek: {
      current: { ratePct: rate, mergedIssues: counts.merged },
      previous: { ratePct: previousRate, mergedIssues: previous.merged },
      deltaPp: round(rate - previousRate, 1),
    },
    serverTimestamp: iso(now),
  };
}

export function attributionOf(rows: Rows, window: Window, now: number) {
  const from = now - windowMs(window);
  const merged = rows.pullRequests.filter(({ mergedAt }) => mergedAt !== null && mergedAt >= from && mergedAt <= now);
  const byAgents = merged.filter(({ byAgent }) => byAgent).length;
  return {
    window,
    mergedPrs: merged.length,
    agentPrs: byAgents,
    humanPrs: merged.length - byAgents,
    agentRatio: metric('agent_attribution', rows, { from, now }),
    agentPct: percentOf(byAgents, merged.length),
    humanPct: percentOf(merged.length - byAgents, merged.length),
    serverTimestamp: iso(now),
  };
}
