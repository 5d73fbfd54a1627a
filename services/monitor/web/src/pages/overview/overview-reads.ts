import { read } from '../../api/query.ts';
import { dashboardRead } from '../../api/read-dashboard.ts';

/** Buckets of the chart of states: one per half hour. */
const BUCKETS = 48;
/** Counts of the queue have no event of their own. */
const QUEUE_POLL_MS = 10_000;

/**
 * Reads of the overview. Each panel reads its part, so that a response renders the panels that show it and no other.
 */
export function overviewReads(repo: string | undefined) {
  const whose = repo === undefined ? {} : { repo };
  return {
    dashboard: dashboardRead(QUEUE_POLL_MS),
    series: read('stateTimeseries', { query: { ...whose, window: '24h', buckets: BUCKETS } }),
    funnel: read('cohortFunnel', { query: { ...whose, window: '7d' } }),
    autonomy: read('autonomy', { query: { ...whose, window: '7d' } }),
    throughput: read('throughput', { query: { ...whose, since: 'today' } }),
    costs: read('pipelineCostSummary', { query: whose }),
    queue: read('queueDepth', {}, QUEUE_POLL_MS),
    alerts: read('listAlerts', { query: { ...whose, limit: 100 } }),
  };
}

/** The repository that the page shows; undefined = all. */
export interface OfRepo {
  repo: string | undefined;
}
