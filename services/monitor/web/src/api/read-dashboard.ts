import { replaceEqualDeep } from '@tanstack/react-query';
import { read } from './query.ts';
import type { Reply } from './types.ts';

/** No page shows the metrics of repos, three quarters of the body: they are dropped before it is compared with the last. */
function withoutMetrics(before: unknown, body: unknown): unknown {
  const { metrics: _, ...rest } = body as Reply<'readDashboard'>;
  return replaceEqualDeep(before, rest);
}

/** Query options of the dashboard without timelines, for all pages that show parts of it. */
export const dashboardRead = (pollMs: number) => ({
  ...read('readDashboard', { query: { timelines: 0 } }, pollMs),
  structuralSharing: withoutMetrics,
});
