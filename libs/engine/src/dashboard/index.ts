export { dashboardMetrics } from './pipeline-metrics.ts';
export { type Counts, type Figures, type Live, readCounts, readFigures, readLive } from './readings.ts';
export { type AgentWork, agentWork, pipelineSummary } from './summary.ts';
export { TIMELINE_BOUNDS, timelineTexts } from './timelines.ts';
export { workerPools } from './worker-pools.ts';
