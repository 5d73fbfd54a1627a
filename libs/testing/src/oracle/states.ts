import {
  bucketEnds,
  HOUR_MS,
  type Since,
  SPINE,
  STATES,
  type State,
  sinceStart,
  type Window,
  windowMs,
  windowRange,
} from '@pipeline/domain';
import { EXACT_DWELL_TIMES } from '@pipeline/store';
import { medianOf } from './arithmetic.ts';
import { iso } from './names.ts';
import type { Rows } from './rows.ts';

/** Issues by state at some times: each is where its last move before that time brought it. */
function statesAt({ issues, transitions }: Rows, times: readonly number[], last: number): Record<string, number>[] {
  const counts = times.map(() => Object.fromEntries(STATES.map((state) => [state, 0])));
  const byIssue = Map.groupBy(transitions, ({ issueId }) => issueId);
  for (const { id, enteredAt } of issues) {
    const own = byIssue.get(id) ?? [];
    for (const [index, time] of times.entries()) {
      // The last bucket ends now, and what happens now belongs to it.
      const before = (at: number) => (index === last ? at <= time : at < time);
      if (!before(enteredAt)) continue;
      const state = own.findLast((move) => before(move.at))?.to ?? 'new';
      const count = counts[index];
      if (count) count[state] = (count[state] ?? 0) + 1;
    }
  }
  return counts;
}

export function stateTimeseriesOf(rows: Rows, asked: { window: Window; buckets: number }, now: number) {
  const { ends } = bucketEnds(windowRange(asked.window, new Date(now)), asked.buckets);
  const counts = statesAt(
    rows,
    ends.map((end) => end.getTime()),
    ends.length - 1,
  );
  return {
    window: asked.window,
    buckets: ends.map((end, index) => ({ ts: end.toISOString(), states: counts[index] })),
    serverTimestamp: iso(now),
  };
}

export function funnelOf({ issues, transitions }: Rows, from: number) {
  const cohort = new Set(issues.filter(({ enteredAt }) => enteredAt >= from).map(({ id }) => id));
  const walked = transitions.filter(({ issueId }) => cohort.has(issueId));
  const counts = new Map(
    STATES.map((state) => [
      state,
      state === 'new' ? cohort.size : new Set(walked.filter(({ to }) => to === state).map((move) => move.issueId)).size,
    ]),
  );
  const count = (state: State): number => counts.get(state) ?? 0;
  const shown = STATES.filter((state) => (SPINE as readonly State[]).includes(state) || count(state) > 0);
  return {
    cohortSize: cohort.size,
    byState: shown.map((state) => {
      const median = medianOf(walked.filter((move) => move.from === state).map(({ ms }) => ms));
      return { state, count: count(state), medianMinutes: median === null ? null : Math.round(median / 60) / 1_000 };
    }),
    drops: SPINE.slice(1).map((to, index) => {
      const before = SPINE[index] ?? 'new';
      return { from: before, to, count: Math.max(0, count(before) - count(to)) };
    }),
  };
}

/**
 * Funnel of a window, and by which part its medians may be off. Above `EXACT_DWELL_TIMES` dwell times the product reads
 * whole hours, the first one from its beginning.
 */
export function cohortFunnelOf(rows: Rows, window: Window, now: number) {
  const from = now - windowMs(window);
  const exact = funnelOf(rows, from);
  const wanted = { window, ...exact, serverTimestamp: iso(now) };
  if (dwellTimeCount(rows, from) <= EXACT_DWELL_TIMES) return { wanted, off: 0 };
  const whole = funnelOf(rows, Math.floor(from / HOUR_MS) * HOUR_MS);
  const medians = new Map(whole.byState.map(({ state, medianMinutes }) => [state, medianMinutes]));
  const byState = exact.byState.map((one) => ({ ...one, medianMinutes: medians.get(one.state) ?? null }));
  return { wanted: { ...wanted, byState }, off: 0.01 };
}

/** Counts how often an issue of the cohort left a state. */
function dwellTimeCount({ issues, transitions }: Rows, from: number): number {
  const cohort = new Set(issues.filter(({ enteredAt }) => enteredAt >= from).map(({ id }) => id));
  return transitions.filter(({ issueId }) => cohort.has(issueId)).length;
}

export function throughputOf({ transitions }: Rows, since: Since, now: number) {
  const start = sinceStart(since, new Date(now)).getTime();
  const done = transitions.filter(({ to, at }) => to === 'done' && at >= start);
  return {
    since,
    count: new Set(done.map(({ issueId }) => issueId)).size,
    windowStart: iso(start),
    serverTimestamp: iso(now),
  };
}
