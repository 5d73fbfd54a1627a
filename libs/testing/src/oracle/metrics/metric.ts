import type { Rows } from '../rows.ts';
import { ISSUE_METRICS } from './issues.ts';
import type { MetricValue, Period } from './period.ts';
import { QUEUE_METRICS } from './queue.ts';
import { WEEKLY_METRICS } from './weekly.ts';

const METRICS = { ...ISSUE_METRICS, ...QUEUE_METRICS, ...WEEKLY_METRICS };

/** The id, in the registry, of a figure that the oracle computes. */
export type MetricId = keyof typeof METRICS;

/** A figure of the registry. */
export const metric = (id: MetricId, rows: Rows, period: Period): MetricValue => METRICS[id](rows, period);

/** One that is a number or nothing. */
export function figure(id: MetricId, rows: Rows, period: Period): number | null {
  const value = metric(id, rows, period);
  if (value !== null && typeof value !== 'number') throw new Error(`${id} has several values`);
  return value;
}
