import { percentile, sum } from '../figures.ts';
import { WORK_TASK_TYPES } from '../task-types.ts';
import { HOUR_MS, SECOND_MS } from '../windows.ts';
import type { Metric, Period } from './definition.ts';
import type { History, RunFact } from './history.ts';
import { enteredIn, inPeriod } from './issue-facts.ts';

const weekly = { group: 'Weekly reliability', window: '7 d' } as const;
const route = (field: string) => `GET /api/pipeline/weekly-reliability, ${field}`;

/** Seconds from the first transition of each issue that was done in the period to its last end. */
export function cycleSeconds({ transitions }: History, period: Period): number[] {
  const moves = Map.groupBy(transitions, ({ issueId }) => issueId);
  return [...moves.values()].flatMap((all) => {
    const done = all.findLast((move) => move.to === 'done' && inPeriod(period, move.at));
    const [first] = all;
    return done && first ? [(done.at - first.at) / SECOND_MS] : [];
  });
}

/** Claimed attempts after the first, each counted once: a returned claim is claimed again. */
function retried({ runs }: History, period: Period): RunFact[] {
  const claimed = runs.filter(
    (run) =>
      run.attempt > 0 &&
      inPeriod(period, run.claimedAt) &&
      (WORK_TASK_TYPES as readonly string[]).includes(run.taskType),
  );
  return [...new Map(claimed.map((run) => [`${run.workId} ${run.attempt}`, run])).values()];
}

/** A longer period is known by then, and must not mark the whole week as degraded. */
const COUNTED_AT_MOST_MS = HOUR_MS;

function degradedSeconds({ workerPeriods }: History, { from, now }: Period): number {
  const troubled = workerPeriods
    .filter(({ kind }) => kind !== 'online')
    .map((period) => ({
      start: Math.max(from, period.from),
      end: Math.min(now, period.to ?? now, period.from + COUNTED_AT_MOST_MS),
    }))
    .filter(({ start, end }) => end > start)
    .sort((a, b) => a.start - b.start);
  let reached = from;
  let ms = 0;
  for (const { start, end } of troubled) {
    ms += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return ms / SECOND_MS;
}

const OUTCOMES: Metric[] = [
  {
    ...weekly,
    id: 'completed',
    label: 'Completed',
    unit: 'count',
    formula: 'issues that reached done; each counts once',
    source: route('completedCount'),
    compute: (history, period) => enteredIn(history, period, ['done']).size,
  },
  {
    ...weekly,
    id: 'recovered',
    label: 'Recovered',
    unit: 'count',
    formula: 'issues that passed through failure-blocked or dependency-blocked, at any time, and reached done',
    source: route('recoveredCount'),
    compute(history, period) {
      const stopped = new Set(
        history.transitions
          .filter(({ to }) => to === 'failure-blocked' || to === 'dependency-blocked')
          .map(({ issueId }) => issueId),
      );
      return [...enteredIn(history, period, ['done'])].filter((id) => stopped.has(id)).length;
    },
  },
  {
    ...weekly,
    id: 'cycle_p50',
    label: 'Cycle p50',
    unit: 'seconds',
    formula: 'median from the first transition to done; null when nothing completed',
    source: route('cycleTime.p50Seconds'),
    compute: (history, period) => percentile(cycleSeconds(history, period), 0.5),
  },
  {
    ...weekly,
    id: 'cycle_p90',
    label: 'Cycle p90',
    unit: 'seconds',
    formula: '90th percentile from the first transition to done; null when nothing completed',
    source: route('cycleTime.p90Seconds'),
    compute: (history, period) => percentile(cycleSeconds(history, period), 0.9),
  },
];

const TROUBLE: Metric[] = [
  {
    ...weekly,
    id: 'dead_letters',
    label: 'Dead letters',
    unit: 'count',
    formula: 'recorded dead letters',
    source: route('deadLetters.count'),
    compute: ({ deadLetters }, period) => deadLetters.filter(({ at }) => inPeriod(period, at)).length,
  },
  {
    ...weekly,
    id: 'tasks_retried',
    label: 'Tasks retried',
    unit: 'count',
    formula: 'work-task rows with attempt_count > 0; attempts 0, 1, 2 of one task count as 2',
    source: route('retryBudget.tasksRetried'),
    compute: (history, period) => retried(history, period).length,
  },
  {
    ...weekly,
    id: 'total_retries_consumed',
    label: 'Retries consumed',
    unit: 'count',
    formula: 'sum of attempt_count, which is zero-based; attempts 0, 1, 2 of one task sum to 3',
    source: route('retryBudget.totalRetriesConsumed'),
    compute: (history, period) => sum(retried(history, period).map(({ attempt }) => attempt)),
  },
  {
    ...weekly,
    id: 'fleet_degraded_time',
    label: 'Fleet degraded time',
    unit: 'seconds',
    formula: 'time with at least one worker silent or stalled, fleet-wide; each period counts for at most one hour',
    source: route('degradedSeconds'),
    compute: degradedSeconds,
  },
];

export const WEEKLY_METRICS: readonly Metric[] = [...OUTCOMES, ...TROUBLE];
