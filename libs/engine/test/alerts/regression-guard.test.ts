import { beforeAll, describe, expect, test } from '@jest/globals';
import { COMPUTE_KPI, DAY_MS, HOUR_MS, KPIS, type Kpi, type KpiInputs } from '@pipeline/domain';
import { watchKpis } from '@pipeline/engine';
import { kpiWeeks, latestKpis } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { type History, simulateHistory } from '@pipeline/testing/history';
import { byRepo, kpiOf, type Rows, readRows } from '@pipeline/testing/oracle';
import { sql } from 'kysely';
import { type Bench, makeBench } from '../harness.ts';

const database = testDatabase();
const END = new Date('2026-06-17T12:00:00Z');
const WEEK_MS = 7 * DAY_MS;

let past: History;
let bench: Bench;

beforeAll(async () => {
  past = await simulateHistory(database.db, { tenants: 2, repos: 4, days: 60, issues: 600, seed: 55, end: END });
  database.clock.now = END;
  bench = await makeBench(database.store, { slug: 'guarded/empty' });
});

/** The store's figures of a week and the reference computation. */
function bothOf(kpi: Kpi, rows: Rows, week: KpiInputs) {
  const from = END.getTime() - (week.week + 1) * WEEK_MS;
  // A week ends before the next one begins; the current one includes the present.
  const now = from + WEEK_MS - (week.week === 0 ? 0 : 1);
  return { stored: COMPUTE_KPI[kpi](week), expected: kpiOf(kpi, rows, { from, now }) };
}

describe('the weeks of a repo', () => {
  test.each(KPIS)('%s equals the reference computation, week by week', async (kpi) => {
    let nonZero = 0;
    const rows = byRepo(await readRows(database.db));
    for (const { id, tenantId } of past.repos) {
      const weeks = await kpiWeeks(database.store.db, tenantId, id);
      expect(weeks.map(({ week }) => week)).toEqual([0, 1, 2, 3, 4]);
      for (const week of weeks) {
        const { stored, expected } = bothOf(kpi, rows.get(id) as Rows, week);
        expect([stored.sampleSize, stored.value === null]).toEqual([expected.sampleSize, expected.value === null]);
        expect(stored.value ?? 0).toBeCloseTo(expected.value ?? 0, 6);
        if (stored.value) nonZero += 1;
      }
    }
    expect(nonZero).toBeGreaterThan(3);
  });

  test('a repo without events has no values', async () => {
    const [now] = await kpiWeeks(database.store.db, bench.tenantId, bench.repo.id);
    expect(now).toMatchObject({ active: 0, ended: 0, costUsd: 0, cycleP50Seconds: null, merged: 0 });
  });
});

const latest = async (slug: string, kpi: Kpi) =>
  (await latestKpis(database.store.db)).find((row) => `${row.owner}/${row.repo}` === slug && row.kpi === kpi);
const alerts = () =>
  database.db
    .selectFrom('alerts')
    .select(['fingerprint', 'severity', 'message', 'repo', 'value', 'threshold', 'resolved_at', 'count'])
    .where('detector', '=', 'kpi_regression')
    .where('tenant_id', '=', bench.tenantId)
    .execute();
const later = (ms: number) => {
  database.clock.now = new Date((database.clock.now ?? END).getTime() + ms);
};

/** Issues that were admitted and completed for a cost each, on one day. */
async function spent(day: Date, issues: number, usd: number): Promise<void> {
  await sql`
    with made as (
      insert into issues (tenant_id, repo_id, issue_number, title, body, url, state, host_created_at, host_updated_at, created_at)
      select ${bench.tenantId}, ${bench.repo.id}, coalesce((select max(issue_number) from issues
        where repo_id = ${bench.repo.id}), 0) + n, '', '', '', 'new', ${day.toISOString()}, ${day.toISOString()},
        ${day.toISOString()}
      from generate_series(1, ${issues}::int) n returning tenant_id, repo_id, id
    )
    insert into cost_events (tenant_id, repo_id, issue_id, run_id, invocation_index, agent, model, amount_usd, created_at)
    select tenant_id, repo_id, id, 1, 0, 'developer', 'm', ${usd}, ${day.toISOString()} from made`.execute(database.db);
}

describe('the guard', () => {
  beforeAll(async () => {
    for (const weeksAgo of [1, 2, 3, 4]) await spent(new Date(END.getTime() - weeksAgo * WEEK_MS - DAY_MS), 3, 2);
    await spent(new Date(END.getTime() - DAY_MS), 5, 3);
    while ((await watchKpis(bench.engine)).more);
  });

  test('stores the KPIs with the mean of the four weeks before as the baseline', async () => {
    expect(await latest('guarded/empty', 'mean_cost_usd')).toMatchObject({
      currentValue: 3,
      baselineValue: 2,
      relativeDelta: 0.5,
      currentSampleSize: 5,
      baselineSampleSize: 12,
      regressed: true,
      magnitude: 'high',
      direction: 'rise',
      history: [{ computedAt: END.toISOString(), value: 3 }],
    });
    expect(await latest('guarded/empty', 'autonomy_rate')).toMatchObject({
      currentValue: null,
      baselineValue: null,
      relativeDelta: null,
      regressed: false,
      magnitude: 'low',
      direction: 'fall',
    });
  });

  test('raises an alert for a regression', async () => {
    expect(await alerts()).toEqual([
      {
        fingerprint: `kpi_regression:${bench.repo.id}:mean_cost_usd`,
        severity: 'warning',
        message:
          'Mean Cost / Issue of guarded/empty rose by 50 % (high): 3 in the last 7 days, 2 in the four preceding weeks',
        repo: 'guarded/empty',
        value: 3,
        threshold: 2.4,
        resolved_at: null,
        count: 1,
      },
    ]);
  });

  test('evaluates a repo once an hour; a later evaluation replaces that of the same day', async () => {
    expect(await watchKpis(bench.engine)).toEqual({ repos: 0, more: false });
    later(2 * HOUR_MS);
    expect((await watchKpis(bench.engine)).repos).toBe(5);
    const kpi = await latest('guarded/empty', 'mean_cost_usd');
    expect(kpi?.history).toEqual([{ computedAt: '2026-06-17T14:00:00.000Z', value: 3 }]);
    expect(await alerts()).toMatchObject([{ count: 2 }]);
  });

  test('resolves it when the KPI is back, and stores a daily history, newest first', async () => {
    later(7 * DAY_MS);
    await spent(database.clock.now ?? END, 6, 2);
    await watchKpis(bench.engine);
    const kpi = await latest('guarded/empty', 'mean_cost_usd');
    expect(kpi).toMatchObject({ regressed: false, currentValue: 2 });
    expect(kpi?.history.map(({ value }) => value)).toEqual([2, 3]);
    expect(await alerts()).toMatchObject([{ resolved_at: expect.any(String) }]);
  });

  test('resolves the alerts of a disabled repo', async () => {
    const enable = (enabled: boolean) =>
      database.db.updateTable('repos').set({ enabled }).where('id', '=', bench.repo.id).execute();
    later(7 * DAY_MS);
    await spent(database.clock.now ?? END, 6, 9);
    await watchKpis(bench.engine);
    expect(await alerts()).toMatchObject([{ resolved_at: null }]);
    await enable(false);
    await watchKpis(bench.engine);
    expect(await alerts()).toMatchObject([{ resolved_at: expect.any(String) }]);
    await enable(true);
  });

  test('limits the history to 30 entries', async () => {
    await sql`
      insert into kpi_snapshots (tenant_id, repo_id, kpi, day, computed_at, value, sample_size, baseline_sample_size,
        regressed, magnitude, direction)
      select ${bench.tenantId}, ${bench.repo.id}, 'mean_cost_usd', '2026-06-16'::date - n, '2026-06-16'::timestamptz, n, 0, 0,
        false, 'low', 'rise' from generate_series(0, 39) n`.execute(database.db);
    const kpi = await latest('guarded/empty', 'mean_cost_usd');
    expect(kpi?.history).toHaveLength(30);
    expect(kpi?.history.slice(0, 4).map(({ value }) => value)).toEqual([5.5, 2, 3, 0]);
  });
});
