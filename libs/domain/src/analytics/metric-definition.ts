export const METRIC_UNITS = ['count', 'ms', 'minutes', 'seconds', 'usd', 'ratio', 'percent'] as const;

export const METRIC_GROUPS = [
  'Issues',
  'Cost',
  'Queue',
  'Fleet',
  'Retrospectives',
  'Regression guard',
  'Weekly reliability',
  'Per model',
  'Per agent',
  'Strategy',
  'Service levels',
  'Data consistency',
] as const;

/** The definition of a figure for dashboards and documents. The store computes the figures in SQL. */
export interface MetricDefinition {
  id: string;
  group: (typeof METRIC_GROUPS)[number];
  label: string;
  /** Null for a rule or term that is no figure. */
  unit: (typeof METRIC_UNITS)[number] | null;
  /** The time range of the figure. */
  window: string;
  formula: string;
  /** The routes or fields that serve it. */
  source: string;
}
