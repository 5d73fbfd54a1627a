export { type PipelineMetrics, pipelineMetrics } from './pipeline-metrics.ts';
export {
  type Counts,
  FIGURE_WINDOWS,
  type FigureWindow,
  type Flow,
  type Live,
  readCounts,
  readFlow,
  readLive,
} from './readings.ts';
export { type AgentWork, agentWork, alertOf, pipelineSummary } from './summary.ts';
export { type TenantBudgets, tenantBudgets } from './tenant-budgets.ts';
export { workerPools } from './worker-pools.ts';
