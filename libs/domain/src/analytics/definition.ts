import type { History, Ms } from './history.ts';

export const METRIC_UNITS = ['count', 'ms', 'minutes', 'seconds', 'usd', 'ratio', 'percent'] as const;
export type MetricUnit = (typeof METRIC_UNITS)[number];

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

/** One number; null = nothing to tell; several by name, such as one for each model. */
export type MetricValue = number | null | Readonly<Record<string, number>>;

/** What dashboards and documents say about a figure. */
export interface Definition {
  id: string;
  group: MetricGroup;
  label: string;
  /** Null for what is no figure but a rule or a word. */
  unit: MetricUnit | null;
  /** The time that it looks at. */
  window: string;
  formula: string;
  /** Where it is served, by method and path or by field. */
  source: string;
}

/** The window that ends now. */
export interface Period {
  now: Ms;
  from: Ms;
}

export interface Metric extends Definition {
  unit: MetricUnit;
  /** The figure itself; the store computes the same where a whole history would be too much to read. */
  compute(history: History, period: Period): MetricValue;
}

/** A word that people meet on the dashboard. */
export interface Term extends Definition {
  unit: null;
}

export const isMetric = (definition: Metric | Term): definition is Metric => definition.unit !== null;
