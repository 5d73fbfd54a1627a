import { costByModel, costByModelByName, pipelineCostSummary, pipelineCostSummaryByName } from './costs.ts';
import { listPipelineEvents } from './events.ts';
import { attribution, attributionByName, autonomy, autonomyByName } from './merges.ts';
import {
  retrospectiveSummary,
  retrospectiveSummaryByName,
  weeklyReliability,
  weeklyReliabilityByName,
} from './reliability.ts';
import { cohortFunnel, stateTimeseries, throughput } from './states.ts';

export const analyticsRoutes = [
  stateTimeseries,
  cohortFunnel,
  autonomy,
  autonomyByName,
  throughput,
  listPipelineEvents,
  pipelineCostSummary,
  pipelineCostSummaryByName,
  costByModel,
  costByModelByName,
  attribution,
  attributionByName,
  weeklyReliability,
  weeklyReliabilityByName,
  retrospectiveSummary,
  retrospectiveSummaryByName,
] as const;
