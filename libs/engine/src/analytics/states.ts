import {
  bucketEnds,
  type Since,
  SPINE,
  STATES,
  type State,
  sinceStart,
  type Window,
  windowRange,
} from '@pipeline/domain';
import {
  countDone,
  medianDwellTimes,
  reachedStates,
  shortestDwellTimes,
  stateChanges,
  storeNow,
} from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { findScope, type ScopeQuery } from './scope.ts';

/** Issue counts of every state at the end of each bucket, computed backwards from the current counts. */
export async function stateTimeseries(engine: Engine, asked: ScopeQuery & { window: Window; buckets: number }) {
  const { db } = engine.store;
  const scope = await findScope(engine, asked);
  const serverTimestamp = await storeNow(db);
  const { ends, exact } = bucketEnds(windowRange(asked.window, new Date(serverTimestamp)), asked.buckets);
  const changes = await stateChanges(db, scope, { ends, exact });
  const counts = new Map<State, number>(STATES.map((state) => [state, 0]));
  const add = (state: State, n: number) => counts.set(state, (counts.get(state) ?? 0) + n);
  for (const { bucket, state, n } of changes) if (bucket === null) add(state, n);
  // A change at this very moment belongs to the last bucket, which ends with it.
  const later = Map.groupBy(changes, ({ bucket }) => bucket && Math.min(bucket, ends.length - 1));
  const buckets: { ts: string; states: Record<State, number> }[] = [];
  for (let index = ends.length; index > 0; index -= 1) {
    if (index < ends.length) for (const { state, n } of later.get(index) ?? []) add(state, -n);
    const ts = ends[index - 1]?.toISOString() ?? '';
    buckets.unshift({ ts, states: Object.fromEntries(counts) as Record<State, number> });
  }
  return { window: asked.window, buckets, serverTimestamp };
}

/** The states reached by issues admitted within a window, and their dwell times. */
export async function cohortFunnel(engine: Engine, asked: ScopeQuery & { window: Window }) {
  const { db } = engine.store;
  const scope = await findScope(engine, asked);
  const serverTimestamp = await storeNow(db);
  const { start } = windowRange(asked.window, new Date(serverTimestamp));
  const reached = await reachedStates(db, scope, start);
  const medians = await medianDwellTimes(db, scope, { since: start, atLeast: shortestDwellTimes(reached) });
  const count = (state: State) => reached.get(state) ?? 0;
  const shown = STATES.filter((state) => (SPINE as readonly State[]).includes(state) || count(state) > 0);
  const drops = SPINE.slice(1).map((to, index) => {
    const from = SPINE[index] ?? 'new';
    return { from, to, count: Math.max(0, count(from) - count(to)) };
  });
  return {
    window: asked.window,
    cohortSize: count('new'),
    byState: shown.map((state) => ({ state, count: count(state), medianMinutes: roundMinutes(medians.get(state)) })),
    drops,
    serverTimestamp,
  };
}

/** Rounded to a thousandth of a minute, 60 ms. */
const roundMinutes = (minutes: number | undefined): number | null =>
  minutes === undefined ? null : Math.round(minutes * 1_000) / 1_000;

/** Issues that moved to done since then, each counted once. */
export async function throughput(engine: Engine, asked: ScopeQuery & { since: Since }) {
  const { db } = engine.store;
  const scope = await findScope(engine, asked);
  const serverTimestamp = await storeNow(db);
  const start = sinceStart(asked.since, new Date(serverTimestamp));
  return {
    since: asked.since,
    count: await countDone(db, scope, start),
    windowStart: start.toISOString(),
    serverTimestamp,
  };
}
