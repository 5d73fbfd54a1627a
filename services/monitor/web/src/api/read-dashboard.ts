import { read } from './query.ts';

/** Query options of the dashboard without timelines and metrics, for all pages that show parts of it: no page shows those. */
export const dashboardRead = (pollMs: number) =>
  read('readDashboard', { query: { timelines: 0, metrics: 'false' } }, pollMs);
