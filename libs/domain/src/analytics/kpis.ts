import { percent, ratio } from '../figures.ts';

/** The KPIs of every repo, in the order of their pages; the regression guard compares them week by week. */
export const KPIS = [
  'block_rate',
  'failure_blocked_rate',
  'mean_cost_usd',
  'mean_turns',
  'reimplement_loop_rate',
  'dead_letter_rate',
  'cycle_time_p50',
  'autonomy_rate',
] as const;
export type Kpi = (typeof KPIS)[number];

/** The direction in which a KPI gets worse. */
export type KpiDirection = 'rise' | 'fall';
export const badDirection = (kpi: Kpi): KpiDirection => (kpi === 'autonomy_rate' ? 'fall' : 'rise');

/** The inputs of the KPIs of one repo and week. `week` 0 is the current one; USD and seconds. */
export interface KpiInputs {
  week: number;
  active: number;
  blocked: number;
  failureBlocked: number;
  reimplemented: number;
  ended: number;
  deadLettered: number;
  costUsd: number;
  costIssues: number;
  turns: number;
  turnIssues: number;
  cycleP50Seconds: number | null;
  merged: number;
  autonomous: number;
}

/** One KPI of one week. */
export interface KpiWeek {
  value: number | null;
  sampleSize: number;
}

/** Each KPI of one week. */
export const COMPUTE_KPI: Record<Kpi, (week: KpiInputs) => KpiWeek> = {
  block_rate: (w) => ({ value: ratio(w.blocked, w.active), sampleSize: w.active }),
  failure_blocked_rate: (w) => ({ value: ratio(w.failureBlocked, w.active), sampleSize: w.active }),
  mean_cost_usd: (w) => ({ value: ratio(w.costUsd, w.costIssues), sampleSize: w.costIssues }),
  mean_turns: (w) => ({ value: ratio(w.turns, w.turnIssues), sampleSize: w.turnIssues }),
  reimplement_loop_rate: (w) => ({ value: ratio(w.reimplemented, w.active), sampleSize: w.active }),
  dead_letter_rate: (w) => ({ value: ratio(w.deadLettered, w.ended), sampleSize: w.ended }),
  cycle_time_p50: (w) => ({ value: w.cycleP50Seconds, sampleSize: w.ended }),
  autonomy_rate: (w) => ({ value: percent(w.autonomous, w.merged), sampleSize: w.merged }),
};
