import { bucketEnds, type TimeRange, windowRange } from '@pipeline/domain';
import {
  type AnalyticsScope,
  countDone,
  medianDwellTimes,
  reachedStates,
  shortestDwellTimes,
  stateChanges,
} from '@pipeline/store';
import type { Week } from './world.ts';

/** A figure as the service reads it from its sums, and as plain SQL reads it from the moves; both give the same. */
export interface Figure {
  name: string;
  /** Factor by which it must be faster than plain SQL. */
  faster: number;
  ours(week: Week): Promise<unknown>;
  plain(week: Week): Promise<unknown>;
}

const ALL: AnalyticsScope = { tenantId: null, repoId: null };
const BUCKETS = 48;
const dayOf = ({ now }: Week): TimeRange => windowRange('24h', now);
const endsOf = (week: Week) => bucketEnds(dayOf(week), BUCKETS);

interface Change {
  bucket: number | null;
  state: string;
  n: number;
}

/** Zeros say nothing, and the order neither. */
const inOrder = (changes: readonly Change[]) =>
  changes
    .filter(({ n }) => n !== 0)
    .map(({ bucket, state, n }) => `${bucket ?? 'now'} ${state} ${n}`)
    .sort();

const occupancy: Figure = {
  name: 'state occupancy, 24 h in 48 buckets',
  faster: 100,
  ours: async (week) => inOrder(await stateChanges(week.store.db, ALL, endsOf(week))),
  async plain(week) {
    const ends = endsOf(week).ends.map((end) => end.toISOString());
    const { rows } = await week.admin.query<Change>(
      `select null::int as bucket, state, count(*)::int as n from plain_issues group by state
       union all
       select bucket, state, sum(n)::int from (
         select width_bucket(at, $1::timestamptz[]) as bucket, to_state as state, count(*) as n from plain_moves
         where at >= $2 group by 1, 2
         union all
         select width_bucket(at, $1::timestamptz[]), from_state, -count(*) from plain_moves where at >= $2 group by 1, 2
         union all
         select width_bucket(created_at, $1::timestamptz[]), 'new', count(*) from plain_issues where created_at >= $2 group by 1
       ) m group by 1, 2`,
      [ends, ends[0]],
    );
    return inOrder(rows);
  },
};

/** Medians beyond 20,000 stays are within a percent, so they are not compared. */
const funnel: Figure = {
  name: 'cohort funnel with medians, 24 h',
  faster: 200,
  async ours(week) {
    const since = dayOf(week).start;
    const reached = await reachedStates(week.store.db, ALL, since);
    await medianDwellTimes(week.store.db, ALL, { since, atLeast: shortestDwellTimes(reached) });
    return [...reached].map(([state, n]) => `${state} ${n}`).sort();
  },
  async plain(week) {
    const { rows } = await week.admin.query<{ line: string }>(
      `with cohort as (select id from plain_issues where created_at >= $1),
       stays as (
         select from_state, percentile_cont(0.5) within group (order by ms) as median
         from cohort c join plain_moves m on m.issue_id = c.id group by 1
       )
       select x.state || ' ' || x.n as line from (
         select 'new' as state, count(*) as n from cohort
         union all
         select m.to_state, count(distinct m.issue_id) from cohort c join plain_moves m on m.issue_id = c.id group by 1
       ) x left join stays s on s.from_state = x.state order by 1`,
      [dayOf(week).start.toISOString()],
    );
    return rows.map(({ line }) => line).sort();
  },
};

const throughput: Figure = {
  name: 'throughput, 7 d',
  faster: 4,
  ours: (week) => countDone(week.store.db, ALL, windowRange('7d', week.now).start),
  async plain(week) {
    const { rows } = await week.admin.query<{ n: number }>(
      `select count(distinct issue_id)::int as n from plain_moves where to_state = 'done' and at >= $1`,
      [windowRange('7d', week.now).start.toISOString()],
    );
    return rows[0]?.n;
  },
};

export const FIGURES: readonly Figure[] = [occupancy, funnel, throughput];
