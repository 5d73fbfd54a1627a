import { COST_WINDOWS, SINCE_VALUES, WINDOWS } from '@pipeline/domain';
import {
  attributionOf,
  autonomyOf,
  cohortFunnelOf,
  costByModelOf,
  costSummaryOf,
  type Rows,
  retrospectivesOf,
  scoreboardOf,
  stateTimeseriesOf,
  throughputOf,
  weeklyReliabilityOf,
} from '@pipeline/testing/oracle';
import type { Asker } from './asker.ts';

/** Scope of the figures: everything, a tenant, or a repo. */
export interface Scope {
  /** Scope as it stands in a query. */
  whose: string;
  rows: Rows;
}

/** Every route of the analytics, by every name, over every window. */
export async function askAnalytics(asker: Asker, { whose, rows }: Scope, now: number): Promise<void> {
  for (const window of WINDOWS) {
    for (const buckets of [1, 48, 168]) {
      await asker.expect(
        `/api/pipeline/state-timeseries?window=${window}&buckets=${buckets}${whose}`,
        stateTimeseriesOf(rows, { window, buckets }, now),
      );
    }
    const { wanted: funnel, off } = cohortFunnelOf(rows, window, now);
    await asker.expect(`/api/pipeline/cohort-funnel?window=${window}${whose}`, funnel, {
      off: (place) => (place.endsWith('medianMinutes') ? off : 0),
    });
    for (const [name, wanted] of [
      ['autonomy', autonomyOf(rows, window, now)],
      ['attribution', attributionOf(rows, window, now)],
      ['retrospectives', retrospectivesOf(rows, window, now)],
    ] as const) {
      for (const path of [`/api/pipeline/${name}`, `/pipeline/${name}`])
        await asker.expect(`${path}?window=${window}${whose}`, wanted);
    }
  }
  for (const since of SINCE_VALUES) {
    await asker.expect(`/api/pipeline/throughput?since=${since}${whose}`, throughputOf(rows, since, now));
  }
  for (const window of COST_WINDOWS) {
    const wanted = costByModelOf(rows, window, now);
    await asker.expect(`/api/pipeline/cost-by-model?window=${window}${whose}`, wanted);
    await asker.expect(`/pipeline/cost-by-model?window=${window}${whose}`, wanted);
  }
  for (const window of ['48h', '7d', '90d']) {
    const path = `/api/agents/scoreboard?window=${window}&tasks=all${whose}`;
    await asker.expect(path, scoreboardOf(rows, { window, tasks: 'all' }, now));
  }
  const summary = costSummaryOf(rows, now);
  const reliability = weeklyReliabilityOf(rows, now);
  for (const path of ['/api/pipeline', '/pipeline']) {
    await asker.expect(`${path}/cost-summary?${whose.slice(1)}`, summary);
    await asker.expect(`${path}/weekly-reliability?${whose.slice(1)}`, reliability);
  }
}
