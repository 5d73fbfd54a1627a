import type { analyticsRoutes } from '@pipeline/contract';
import {
  agentScoreboard,
  attribution,
  autonomy,
  cohortFunnel,
  costByModel,
  type Engine,
  pipelineEvents,
  retrospectiveSummary,
  spendingSummary,
  stateTimeseries,
  throughput,
  weeklyReliability,
} from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';

type Handlers = HandlersOf<typeof analyticsRoutes, Authentication>;

/**
 * interface: Pipeline analytics.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const analyticsHandlers = (deps: () => { engine: Engine }): Handlers => {
  const of =
    <Q, B>(read: (engine: Engine, query: Q) => Promise<B>) =>
    async ({ query }: { query: Q }) =>
      ({ status: 200, body: await read(deps().engine, query) }) as const;
  return {
    stateTimeseries: of(stateTimeseries),
    cohortFunnel: of(cohortFunnel),
    autonomy: of(autonomy),
    autonomyByName: of(autonomy),
    throughput: of(throughput),
    listPipelineEvents: of(pipelineEvents),
    pipelineCostSummary: of(spendingSummary),
    pipelineCostSummaryByName: of(spendingSummary),
    costByModel: of(costByModel),
    costByModelByName: of(costByModel),
    attribution: of(attribution),
    attributionByName: of(attribution),
    weeklyReliability: of(weeklyReliability),
    weeklyReliabilityByName: of(weeklyReliability),
    retrospectiveSummary: of(retrospectiveSummary),
    retrospectiveSummaryByName: of(retrospectiveSummary),
    agentScoreboard: of(agentScoreboard),
  };
};
