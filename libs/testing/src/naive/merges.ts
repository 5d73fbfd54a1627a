import { datesOf, utcDate, type Window, windowMs, windowRange } from '@pipeline/domain';
import { iso, metric, round } from './facts.ts';
import type { Rows } from './rows.ts';

/** When issues were first merged, and whether nobody but agents had a hand in it. */
function firstMerges({ pulls, moves }: Rows): { at: number; alone: boolean }[] {
  const linked = Map.groupBy(
    pulls.filter(({ issueId }) => issueId !== null),
    ({ issueId }) => issueId,
  );
  const asked = Map.groupBy(
    moves.filter(({ to }) => to === 'changes-requested'),
    ({ issueId }) => issueId as number | null,
  );
  return [...linked].flatMap(([id, own]) => {
    const merges = own.flatMap(({ mergedAt }) => mergedAt ?? []);
    if (merges.length === 0) return [];
    const at = Math.min(...merges);
    const again = (asked.get(id) ?? []).some((move) => move.at < at);
    return [{ at, alone: !again && own.every(({ byAgent }) => byAgent) }];
  });
}

const countsOf = (merges: { alone: boolean }[]) => ({
  merged: merges.length,
  autonomous: merges.filter(({ alone }) => alone).length,
});

const percentOf = (part: number, whole: number): number | null => (whole === 0 ? null : round((100 * part) / whole, 1));

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
      current: { ratePct: rate },
      previous: { ratePct: previousRate },
      deltaPp: round(rate - previousRate, 1),
    },
    serverTimestamp: iso(now),
  };
}

export function attributionOf(rows: Rows, window: Window, now: number) {
  const from = now - windowMs(window);
  const merged = rows.pulls.filter(({ mergedAt }) => mergedAt !== null && mergedAt >= from && mergedAt <= now);
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
