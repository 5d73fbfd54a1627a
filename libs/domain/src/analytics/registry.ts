import { COST_METRICS } from './cost-metrics.ts';
import { isMetric, type Metric, type Term } from './definition.ts';
import { FLEET_METRICS } from './fleet-metrics.ts';
import { HEALTH_METRICS } from './health-metrics.ts';
import { ISSUE_METRICS } from './issue-metrics.ts';
import { MODEL_METRICS } from './model-metrics.ts';
import { QUEUE_METRICS } from './queue-metrics.ts';
import { REGRESSION_METRICS } from './regression-metrics.ts';
import { RETROSPECTIVE_METRICS } from './retrospective-metrics.ts';
import { STRATEGY_TERMS } from './strategy-terms.ts';
import { WEEKLY_METRICS } from './weekly-metrics.ts';

/** Every figure and term of the dashboard, once (interface: Dashboard metric definitions). */
export const METRIC_REGISTRY: readonly (Metric | Term)[] = [
  ...ISSUE_METRICS,
  ...COST_METRICS,
  ...QUEUE_METRICS,
  ...FLEET_METRICS,
  ...RETROSPECTIVE_METRICS,
  ...REGRESSION_METRICS,
  ...WEEKLY_METRICS,
  ...MODEL_METRICS,
  ...STRATEGY_TERMS,
  ...HEALTH_METRICS,
];

/** Those that are computed. */
export const METRICS: readonly Metric[] = METRIC_REGISTRY.filter(isMetric);
