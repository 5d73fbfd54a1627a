import type { Kpi, KpiWeek, State } from '@pipeline/domain';
import { medianOf, percentOf, ratioOf, usdOf } from '../arithmetic.ts';
import type { Rows } from '../rows.ts';
import { isWithin, movedTo, type Period } from './period.ts';
import { mergedIssues } from './pull-requests.ts';
import { cycleSeconds } from './weekly.ts';

/** Issues that were not done at some moment of the period: open from admission and from each reopening. */
function activeIssues({ issues, transitions }: Rows, { from, now }: Period): number {
  const byIssue = Map.groupBy(transitions, ({ issueId }) => issueId);
  return issues.filter(({ id, enteredAt }) => {
    const steps = [{ at: enteredAt, to: 'new' as State }, ...(byIssue.get(id) ?? [])];
    return steps.some(({ at, to }, index) => {
      const end = steps[index + 1]?.at ?? Number.POSITIVE_INFINITY;
      return to !== 'done' && at <= now && end > from;
    });
  }).length;
}

const sampleOf = (part: number, whole: number): KpiWeek => ({ value: ratioOf(part, whole), sampleSize: whole });

const entryRate =
  (...states: State[]) =>
  (rows: Rows, period: Period): KpiWeek =>
    sampleOf(movedTo(rows, period, ...states).size, activeIssues(rows, period));

/** A restart: by command, or because of the host or the plan after a pull request existed. */
const isRestart = ({ pullRequests }: Rows, { issueId, trigger, at }: Rows['transitions'][number]): boolean =>
  trigger === 'reimplement' ||
  trigger === 'conflict' ||
  (trigger === 'replan' && pullRequests.some((pull) => pull.issueId === issueId && pull.openedAt < at));

const issueCount = (facts: readonly { issueId: number | null }[]): number =>
  new Set(facts.map(({ issueId }) => issueId)).size;

const EXPECTED_KPI: Record<Kpi, (rows: Rows, period: Period) => KpiWeek> = {
  block_rate: entryRate('dependency-blocked', 'needs-clarification'),
  failure_blocked_rate: entryRate('failure-blocked'),
  mean_cost_usd({ costs }, period) {
    const booked = costs.filter(({ issueId, at }) => issueId !== null && isWithin(period, at));
    return sampleOf(usdOf(booked), issueCount(booked));
  },
  mean_turns({ invocations }, period) {
    const own = invocations.filter(({ issueId, claimedAt }) => issueId !== null && isWithin(period, claimedAt));
    const turns = own.reduce((sum, call) => sum + call.turns, 0);
    return sampleOf(turns, issueCount(own));
  },
  reimplement_loop_rate(rows, period) {
    const restarts = rows.transitions.filter((move) => isWithin(period, move.at) && isRestart(rows, move));
    return sampleOf(issueCount(restarts), activeIssues(rows, period));
  },
  dead_letter_rate(rows, period) {
    const done = movedTo(rows, period, 'done');
    const failed = new Set(rows.deadLetters.map(({ issueId }) => issueId));
    return sampleOf(done.intersection(failed).size, done.size);
  },
  cycle_time_p50(rows, period) {
    const cycles = cycleSeconds(rows, period);
    return { value: medianOf(cycles), sampleSize: cycles.length };
  },
  autonomy_rate(rows, period) {
    const merged = mergedIssues(rows, period);
    const autonomous = merged.filter(({ isAutonomous }) => isAutonomous);
    return { value: percentOf(autonomous.length, merged.length), sampleSize: merged.length };
  },
};

/** A KPI of one period, and the size of its sample. */
export const kpiOf = (kpi: Kpi, rows: Rows, period: Period): KpiWeek => EXPECTED_KPI[kpi](rows, period);
