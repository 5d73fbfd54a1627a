import type { History, Ms } from './history.ts';

export const METRIC_UNITS = ['count', 'ms', 'minutes', 'seconds', 'usd', 'ratio', 'percent'] as const;
type MetricUnit = (typeof METRIC_UNITS)[number];

export const METRIC_GROUPS = [
  'Issues',
  'Cost',
  'Queue',
  'Fleet',
  'Retrospectives',
  'Regression guard',
  'Weekly reliability',
  'Per model',
  'Strategy',
  'Service levels',
  'Data consistency',
] as const;
export type MetricGroup = (typeof METRIC_GROUPS)[number];

/** One number; null = no value; several by name, such as one for each model. */
export type MetricValue = number | null | Readonly<Record<string, number>>;

/** The definition of a figure for dashboards and documents. */
export interface Definition {
  id: string;
  group: MetricGroup;
  label: string;
  /** Null for a rule or term that is no figure. */
  unit: MetricUnit | null;
  /** The time range of the figure. */
  window: string;
  formula: string;
  /** The routes or fields that serve it. */
  source: string;
}

/** The window that ends now. */
export interface Period {
  now: Ms;
  from: Ms;
}

export interface Metric extends Definition {
  unit: MetricUnit;
  /** The figure itself; the store computes it in SQL where a whole history would be too much to read. */
  compute(history: History, period: Period): MetricValue;
}

/** A term of the dashboard. */
export interface Term extends Definition {
  unit: null;
}

export const isMetric = (definition: Metric | Term): definition is Metric => definition.unit !== null;
