export { dashboardMetrics } from './pipeline-metrics.ts';
export { type Counts, type Figures, type Live, readCounts, readFigures, readLive } from './readings.ts';
export { type AgentWork, agentWork, pipelineSummary } from './summary.ts';
export { workerPools } from './worker-pools.ts';
