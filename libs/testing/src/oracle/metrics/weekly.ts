import { percentileOf, ratioOf } from '../arithmetic.ts';
import type { Rows } from '../rows.ts';
import { isWithin, type Metric, movedTo, type Period } from './period.ts';

const HOUR = 3_600_000;

/** Seconds from the first transition of each issue that was done in the period to its last end. */
export function cycleSeconds({ transitions }: Rows, period: Period): number[] {
  return [...Map.groupBy(transitions, ({ issueId }) => issueId).values()].flatMap((own) => {
    const done = own.findLast(({ to, at }) => to === 'done' && isWithin(period, at));
    const [first] = own;
    return done && first ? [(done.at - first.at) / 1_000] : [];
  });
}

/** Attempts of work tasks after the first that were claimed or wait, each counted once: a returned claim is claimed again. */
function retries({ runs, tasks }: Rows, period: Period): number[] {
  const claimed = runs.filter(({ at }) => isWithin(period, at));
  const waiting = tasks
    .filter(({ status }) => status === 'pending')
    .map(({ type, ...task }) => ({ ...task, taskType: type }));
  const again = [...claimed, ...waiting].filter(
    ({ attempt, taskType }) => attempt > 0 && taskType !== 'retrospect' && taskType !== 'code-map-scan',
  );
  return [...new Map(again.map(({ workId, attempt }) => [`${workId} ${attempt}`, attempt])).values()];
}

/** Time with a silent or stalled worker; each period counts for at most an hour. */
function degradedSeconds({ workerPeriods }: Rows, { from, now }: Period): number {
  const stretches = workerPeriods
    .filter(({ kind }) => kind !== 'online')
    .map((period) => ({
      start: Math.max(from, period.from),
      end: Math.min(now, period.to ?? now, period.from + HOUR),
    }))
    .filter(({ start, end }) => end > start)
    .sort((a, b) => a.start - b.start);
  let reached = from;
  let ms = 0;
  for (const { start, end } of stretches) {
    ms += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return ms / 1_000;
}

/** Returns whether an agent changed other files than planned; empty where either is unknown. */
function planDrift({ planned, actual }: Rows['retrospectives'][number]): boolean[] {
  if (planned === null || actual === null) return [];
  return [actual.some((file) => !planned.includes(file)) || planned.some((file) => !actual.includes(file))];
}

/** Metrics of weekly reliability and of retrospectives. */
export const WEEKLY_METRICS = {
  completed: (rows, period) => movedTo(rows, period, 'done').size,
  recovered(rows, period) {
    const stopped = new Set(
      rows.transitions
        .filter(({ to }) => to === 'failure-blocked' || to === 'dependency-blocked')
        .map(({ issueId }) => issueId),
    );
    return movedTo(rows, period, 'done').intersection(stopped).size;
  },
  cycle_p50: (rows, period) => percentileOf(cycleSeconds(rows, period), 0.5),
  cycle_p90: (rows, period) => percentileOf(cycleSeconds(rows, period), 0.9),
  dead_letters: ({ deadLetters }, period) => deadLetters.filter(({ at }) => isWithin(period, at)).length,
  tasks_retried: (rows, period) => retries(rows, period).length,
  total_retries_consumed: (rows, period) => retries(rows, period).reduce((sum, attempt) => sum + attempt, 0),
  fleet_degraded_time: degradedSeconds,
  plan_drift_rate({ retrospectives }, period) {
    const known = retrospectives.filter(({ at }) => isWithin(period, at)).flatMap(planDrift);
    return ratioOf(known.filter((isDrift) => isDrift).length, known.length);
  },
  outcome_distribution({ retrospectives }, period) {
    const outcomes = retrospectives.filter(({ at }) => isWithin(period, at)).flatMap(({ outcome }) => outcome ?? []);
    const groups = Map.groupBy(outcomes, (outcome) => outcome);
    return Object.fromEntries([...groups].map(([outcome, each]) => [outcome, each.length]));
  },
} as const satisfies Record<string, Metric>;
