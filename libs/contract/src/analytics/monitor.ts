import { costByModel, costByModelByName, pipelineCostSummary, pipelineCostSummaryByName } from './monitor-costs.ts';
import { listPipelineEvents } from './monitor-events.ts';
import { attribution, attributionByName, autonomy, autonomyByName } from './monitor-merges.ts';
import {
  retrospectiveSummary,
  retrospectiveSummaryByName,
  weeklyReliability,
  weeklyReliabilityByName,
} from './monitor-reliability.ts';
import { agentScoreboard } from './monitor-scoreboard.ts';
import { cohortFunnel, stateTimeseries, throughput } from './monitor-states.ts';

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
  agentScoreboard,
] as const;
