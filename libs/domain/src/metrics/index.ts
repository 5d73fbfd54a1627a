export * from './definition.ts';
export { mean, median, percent, percentile, ratio, sumUsd } from './formulas.ts';
export type * from './history.ts';
export { BLOCKED_STATES, IN_FLIGHT_STATES, IN_PROGRESS_STATES } from './issue-metrics.ts';
export * from './kpis.ts';
export * from './pipeline-metrics.ts';
export { METRIC_REGISTRY, METRICS } from './registry.ts';
export { BLOCK_RATE_STATES, KPI_SAMPLES, type KpiSample } from './regression-metrics.ts';
export { planDriftOf } from './retrospective-metrics.ts';
