export { costByModel, spendingSummary } from './costs.ts';
export { pipelineEvents } from './events.ts';
export { attribution, autonomy } from './merges.ts';
export { retrospectiveSummary, weeklyReliability } from './reliability.ts';
export type { Whose } from './scope.ts';
export { cohortFunnel, stateTimeseries, throughput } from './states.ts';
