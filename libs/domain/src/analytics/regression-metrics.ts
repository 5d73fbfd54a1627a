import type { Kpi } from '../alerts/kpis.ts';
import { median, percent, ratio, sum, sumUsd } from '../figures.ts';
import type { State } from '../states.ts';
import type { Metric, Period } from './definition.ts';
import type { History, TransitionFact } from './history.ts';
import { activeIn, enteredIn, inPeriod, mergedIssuesIn } from './issue-facts.ts';
import { cycleSeconds } from './weekly-metrics.ts';

/** A KPI of one window, and the size of its sample. */
export interface KpiSample {
  value: number | null;
  sampleSize: number;
}

/** States whose entry counts as a block for the KPI; a failure is another KPI. */
export const BLOCK_RATE_STATES = ['dependency-blocked', 'needs-clarification'] as const satisfies readonly State[];

const sampleOf = (part: number, whole: number): KpiSample => ({ value: ratio(part, whole), sampleSize: whole });

const enteredRate =
  (states: readonly State[]) =>
  (history: History, period: Period): KpiSample =>
    sampleOf(enteredIn(history, period, states).size, activeIn(history, period).size);

/** A restart: by command, or because of the host or the plan after a pull request existed. */
function isReimplementation({ pullRequests }: History, { issueId, trigger, at }: TransitionFact): boolean {
  if (trigger === 'reimplement' || trigger === 'conflict') return true;
  return trigger === 'replan' && pullRequests.some((pr) => pr.issueId === issueId && pr.openedAt < at);
}

const perIssue = <T extends { issueId: number | null; at: number }>(facts: readonly T[], period: Period): T[] =>
  facts.filter(({ issueId, at }) => issueId !== null && inPeriod(period, at));

const issuesOf = (facts: readonly { issueId: number | null }[]): number =>
  new Set(facts.map(({ issueId }) => issueId)).size;

/** The functions that compute each KPI from the facts of one window. */
export const KPI_SAMPLES: Record<Kpi, (history: History, period: Period) => KpiSample> = {
  block_rate: enteredRate(BLOCK_RATE_STATES),
  failure_blocked_rate: enteredRate(['failure-blocked']),
  mean_cost_usd(history, period) {
    const booked = perIssue(history.costs, period);
    const issues = issuesOf(booked);
    return { value: ratio(sumUsd(booked.map(({ usd }) => usd)), issues), sampleSize: issues };
  },
  mean_turns(history, period) {
    const calls = perIssue(history.invocations, period);
    const issues = issuesOf(calls);
    return { value: ratio(sum(calls.map(({ turns }) => turns)), issues), sampleSize: issues };
  },
  reimplement_loop_rate(history, period) {
    const again = history.transitions.filter((m) => inPeriod(period, m.at) && isReimplementation(history, m));
    return sampleOf(issuesOf(again), activeIn(history, period).size);
  },
  dead_letter_rate(history, period) {
    const terminal = enteredIn(history, period, ['done']);
    const buried = new Set(history.deadLetters.map(({ issueId }) => issueId));
    return sampleOf([...terminal].filter((id) => buried.has(id)).length, terminal.size);
  },
  cycle_time_p50(history, period) {
    const cycles = cycleSeconds(history, period);
    return { value: median(cycles), sampleSize: cycles.length };
  },
  autonomy_rate(history, period) {
    const merged = mergedIssuesIn(history, period);
    const autonomous = merged.filter(({ isAutonomous }) => isAutonomous);
    return { value: percent(autonomous.length, merged.length), sampleSize: merged.length };
  },
};

type About = Pick<Metric, 'id' | 'label' | 'unit' | 'formula'> & { id: Kpi };

const ABOUT: readonly About[] = [
  {
    id: 'block_rate',
    label: 'Block Rate',
    unit: 'ratio',
    formula: 'issues that entered dependency-blocked or needs-clarification / active issues; regresses when it rises',
  },
  {
    id: 'failure_blocked_rate',
    label: 'Failure-Blocked Rate',
    unit: 'ratio',
    formula: 'issues that entered failure-blocked / active issues; regresses when it rises',
  },
  {
    id: 'mean_cost_usd',
    label: 'Mean Cost / Issue',
    unit: 'usd',
    formula: 'spending in the window / issues with spending; regresses when it rises',
  },
  {
    id: 'mean_turns',
    label: 'Mean Turns / Issue',
    unit: 'count',
    formula: 'agent turns of runs claimed in the window / issues of those runs; regresses when it rises',
  },
  {
    id: 'reimplement_loop_rate',
    label: 'Reimplement Loop Rate',
    unit: 'ratio',
    formula:
      'issues that were re-implemented (by /svc:reimplement, after a merge conflict, or after a new plan once there was a pull request) / active issues; regresses when it rises',
  },
  {
    id: 'dead_letter_rate',
    label: 'Dead Letter Rate',
    unit: 'ratio',
    formula: 'issues that reached done and have had a dead letter / issues that reached done; regresses when it rises',
  },
  {
    id: 'cycle_time_p50',
    label: 'Cycle Time p50',
    unit: 'seconds',
    formula: 'median from the first transition to done; regresses when it rises',
  },
  {
    id: 'autonomy_rate',
    label: 'Autonomy Rate',
    unit: 'percent',
    formula: 'autonomous issues / merged issues, as in Autonomous Merge Rate; regresses when it falls',
  },
];

export const REGRESSION_METRICS: readonly Metric[] = ABOUT.map((about) => ({
  ...about,
  group: 'Regression guard',
  window: '7 d against the mean of the 4 weeks before',
  source: `GET /api/regression-guard, kpi ${about.id}`,
  compute: (history, period) => KPI_SAMPLES[about.id](history, period).value,
}));
