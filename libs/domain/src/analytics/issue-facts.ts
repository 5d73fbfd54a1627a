import type { State } from '../states.ts';
import type { Period } from './definition.ts';
import type { History, Ms, PullRequestFact } from './history.ts';

/** The start is included, and so is now. */
export const inPeriod = ({ from, now }: Period, at: Ms | null): at is Ms => at !== null && at >= from && at <= now;

export const countIn = ({ issues }: History, states: readonly State[]): number =>
  issues.filter(({ state }) => states.includes(state)).length;

/** Issues that were moved to one of these states in the period. */
export const enteredIn = ({ transitions }: History, period: Period, states: readonly State[]): Set<number> =>
  new Set(transitions.filter((move) => states.includes(move.to) && inPeriod(period, move.at)).map((m) => m.issueId));

/** Pull requests that were merged in the period. */
export const mergedIn = (history: History, period: Period): PullRequestFact[] =>
  history.pullRequests.filter(({ mergedAt }) => inPeriod(period, mergedAt));

/** The pull requests of an issue, summarised. */
interface IssuePulls {
  issueId: number;
  firstOpenedAt: Ms;
  /** Null while none of them is merged. */
  firstMergedAt: Ms | null;
  allByAgents: boolean;
}

/** Of every issue that has any. */
export function pullsByIssue({ pullRequests }: History): IssuePulls[] {
  const linked = pullRequests.filter((pr) => pr.issueId !== null);
  return [...Map.groupBy(linked, (pr) => pr.issueId as number)].map(([issueId, pulls]) => {
    const merges = pulls.flatMap(({ mergedAt }) => (mergedAt === null ? [] : [mergedAt]));
    return {
      issueId,
      firstOpenedAt: Math.min(...pulls.map(({ openedAt }) => openedAt)),
      firstMergedAt: merges.length === 0 ? null : Math.min(...merges),
      allByAgents: pulls.every(({ agentAuthored }) => agentAuthored),
    };
  });
}

/** How often changes were requested before a merge; 0 for a pull request without an issue. */
export const cyclesBefore = ({ transitions }: History, issueId: number | null, mergedAt: Ms): number =>
  transitions.filter((move) => move.issueId === issueId && move.to === 'changes-requested' && move.at < mergedAt)
    .length;

/** Issues with their first merge in the period; autonomous = no changes were requested before, and no manual action. */
export const mergedIssuesIn = (history: History, period: Period): { issueId: number; isAutonomous: boolean }[] =>
  pullsByIssue(history).flatMap(({ issueId, firstMergedAt: at, allByAgents }) =>
    inPeriod(period, at) ? [{ issueId, isAutonomous: allByAgents && cyclesBefore(history, issueId, at) === 0 }] : [],
  );

/** The periods in which an issue was not done; the last one may be open-ended. */
interface OpenTime {
  from: Ms;
  to: Ms;
}

/** The periods in which each issue was open: from its admission, and from each reopening, until it was done. */
function openTimes({ issues, transitions }: History): Map<number, OpenTime[]> {
  const moves = Map.groupBy(transitions, ({ issueId }) => issueId);
  return new Map(
    issues.map(({ id, enteredAt }) => {
      const times: OpenTime[] = [];
      let from: Ms | null = enteredAt;
      for (const move of moves.get(id) ?? []) {
        if (move.to === 'done' && from !== null) {
          times.push({ from, to: move.at });
          from = null;
        } else if (move.to !== 'done' && from === null) from = move.at;
      }
      if (from !== null) times.push({ from, to: Number.POSITIVE_INFINITY });
      return [id, times];
    }),
  );
}

/** Issues that were not done at some moment of the period. */
export const activeIn = (history: History, { from, now }: Period): Set<number> =>
  new Set(
    [...openTimes(history)]
      .filter(([, times]) => times.some((time) => time.from <= now && time.to > from))
      .map(([id]) => id),
  );
