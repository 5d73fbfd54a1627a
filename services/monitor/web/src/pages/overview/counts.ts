import { STATE_NAMES } from '@pipeline/web/states/states.ts';
import type { Reply, State } from '../../api/types.ts';

export type Counts = Readonly<Record<State, number>>;

/**
 * Returns the number of issues by state: of all repos from the dashboard, of one repo from the end of its series.
 * undefined before the monitor has counted, when the dashboard has zeros.
 */
export function countsOf(
  repo: string | undefined,
  dashboard: Reply<'readDashboard'> | undefined,
  series: Reply<'stateTimeseries'> | undefined,
): Counts | undefined {
  if (repo !== undefined) return series?.buckets.at(-1)?.states;
  return dashboard?.polledAt === null ? undefined : dashboard?.pipelineSummary;
}

/** Returns the number of issues that are not done. */
export const openCount = (counts: Counts): number =>
  STATE_NAMES.reduce((sum, state) => sum + (state === 'done' ? 0 : counts[state]), 0);
