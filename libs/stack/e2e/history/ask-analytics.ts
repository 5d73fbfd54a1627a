import { COST_WINDOWS, SINCE_VALUES, WINDOWS } from '@pipeline/domain';
import {
  attributionOf,
  autonomyOf,
  cohortFunnelOf,
  costByModelOf,
  costSummaryOf,
  eventsOf,
  type Rows,
  retrospectivesOf,
  stateTimeseriesOf,
  throughputOf,
  weeklyReliabilityOf,
} from '@pipeline/testing/oracle';
import type { Asker } from './asker.ts';

/** Scope of the figures: everything, a tenant, or a repo. */
export interface Scope {
  /** As it stands in a query. */
  whose: string;
  rows: Rows;
}

const PAGES = [
  { limit: 50, offset: 0 },
  { limit: 200, offset: 1_000 },
];

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
  const summary = costSummaryOf(rows, now);
  const reliability = weeklyReliabilityOf(rows, now);
  for (const path of ['/api/pipeline', '/pipeline']) {
    await asker.expect(`${path}/cost-summary?${whose.slice(1)}`, summary);
    await asker.expect(`${path}/weekly-reliability?${whose.slice(1)}`, reliability);
  }
  await askEvents(asker, { whose, rows });
}

async function askEvents(asker: Asker, { whose, rows }: Scope): Promise<void> {
  const types = [undefined, ...new Set(rows.events.slice(0, 20_000).map(({ type }) => type))];
  for (const type of types) {
    for (const page of PAGES) {
      const query = `limit=${page.limit}&offset=${page.offset}${type === undefined ? '' : `&type=${type}`}`;
      await asker.expect(`/api/pipeline-events?${query}${whose}`, eventsOf(rows, { type }, page));
    }
  }
  const page = { limit: 50, offset: 0 };
  await asker.expect(`/api/pipeline-events?issue=7${whose}`, eventsOf(rows, { issue: 7 }, page));
}
