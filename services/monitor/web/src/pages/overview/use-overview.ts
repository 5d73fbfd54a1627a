import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';

/** Buckets of the chart of states: one per half hour. */
const BUCKETS = 48;
/** Counts of the queue have no event of their own. */
const QUEUE_POLL_MS = 10_000;

/** What the overview shows. Each part loads and fails on its own. */
export function useOverview(repo: string | undefined) {
  const whose = repo === undefined ? {} : { repo };
  return {
    dashboard: useQuery(read('readDashboard', { query: { timelines: 0 } }, QUEUE_POLL_MS)),
    series: useQuery(read('stateTimeseries', { query: { ...whose, window: '24h', buckets: BUCKETS } })),
    funnel: useQuery(read('cohortFunnel', { query: { ...whose, window: '7d' } })),
    autonomy: useQuery(read('autonomy', { query: { ...whose, window: '7d' } })),
    throughput: useQuery(read('throughput', { query: { ...whose, since: 'today' } })),
    costs: useQuery(read('pipelineCostSummary', { query: whose })),
    queue: useQuery(read('queueDepth', {}, QUEUE_POLL_MS)),
    alerts: useQuery(read('listAlerts', { query: { ...whose, limit: 100 } })),
  };
}

export type Overview = ReturnType<typeof useOverview>;
