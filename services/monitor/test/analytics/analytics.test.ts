import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { bucketEnds, DAY_MS, HOUR_MS, sumUsd, utcDate, type Window, windowMs, windowRange } from '@pipeline/domain';
import { foldRollups, medianStays } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { clearHistory, simulateHistory } from '@pipeline/testing/history';
import fc from 'fast-check';
import { engineOn } from '../bench.ts';
import { type Call, serveConnected } from '../served-app.ts';
import { funnelOf, metric, ofRepos, type Rows, readRows, round, statesAt } from './naive.ts';

const database = testDatabase();
const END = new Date('2026-03-10T12:34:56.789Z');
const NOW = END.getTime();
const SIZE = { tenants: 2, repos: 4, days: 16, issues: 160, end: END };
let call: Call;
let close: () => Promise<void>;

beforeAll(async () => {
  database.clock.now = END;
  ({ call, close } = await serveConnected({ engine: engineOn(database.store) }));
});
afterAll(() => close());
afterEach(() => clearHistory(database.db));

async function get<T = Record<string, unknown>>(path: string): Promise<T> {
  const answer = await call('GET', path);
  if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}: ${answer.text}`);
  return answer.json as T;
}

interface Asked {
  rows: Rows;
  whose: string;
  window: Window;
}

const from = (window: Window) => NOW - windowMs(window);
const period = (window: Window) => ({ from: from(window), now: NOW });

async function statesAgree({ rows, whose, window }: Asked): Promise<void> {
  for (const buckets of [1, 7, 48, 168]) {
    const body = await get<{ buckets: unknown[] }>(
      `/api/pipeline/state-timeseries?window=${window}&buckets=${buckets}${whose}`,
    );
    const { ends } = bucketEnds(windowRange(window, END), buckets);
    expect(body).toMatchObject({ window, serverTimestamp: END.toISOString() });
    expect(body.buckets).toEqual(
      ends.map((end, index) => ({
        ts: end.toISOString(),
        states: statesAt(rows, end.getTime(), index === buckets - 1),
      })),
    );
  }
}

async function flowAgrees({ rows, whose, window }: Asked): Promise<void> {
  expect(await get(`/api/pipeline/cohort-funnel?window=${window}${whose}`)).toEqual({
    window,
    ...funnelOf(rows, from(window)),
    serverTimestamp: END.toISOString(),
  });
  const done = (since: number) =>
    new Set(rows.moves.filter((move) => move.to === 'done' && move.at >= since).map(({ issueId }) => issueId)).size;
  expect(await get(`/api/pipeline/throughput?since=${window}${whose}`)).toEqual({
    since: window,
    count: done(from(window)),
    windowStart: new Date(from(window)).toISOString(),
    serverTimestamp: END.toISOString(),
  });
  const midnight = Date.parse('2026-03-10T00:00:00Z');
  expect(await get(`/api/pipeline/throughput?since=today${whose}`)).toMatchObject({ count: done(midnight) });
}

async function mergesAgree({ rows, whose, window }: Asked): Promise<void> {
  const firstMerges = (start: number, end: number) =>
    [
      ...Map.groupBy(
        rows.pulls.filter((pull) => pull.issueId !== null),
        ({ issueId }) => issueId,
      ),
    ].flatMap(([id, pulls]) => {
      const merges = pulls.flatMap(({ mergedAt }) => mergedAt ?? []);
      const at = Math.min(...merges);
      if (merges.length === 0 || at < start || at > end) return [];
      const asked = rows.moves.some((move) => move.issueId === id && move.to === 'changes-requested' && move.at < at);
      return [{ date: utcDate(new Date(at)), alone: !asked && pulls.every(({ byAgent }) => byAgent) }];
    });
  const rateOf = (merges: { alone: boolean }[]) =>
    merges.length === 0 ? 0 : round((100 * merges.filter(({ alone }) => alone).length) / merges.length, 1);
  const current = firstMerges(from(window), NOW);
  const previous = firstMerges(from(window) - windowMs(window), from(window) - 1);
  const body = await get<{ byDay: { date: string; merged: number; autonomous: number }[] }>(
    `/api/pipeline/autonomy?window=${window}${whose}`,
  );
  expect(body).toMatchObject({
    window,
    mergedIssues: current.length,
    fullyAutonomousIssues: current.filter(({ alone }) => alone).length,
    ratePct: rateOf(current),
    weekOverWeek: {
      current: { ratePct: rateOf(current) },
      previous: { ratePct: rateOf(previous) },
      deltaPp: round(rateOf(current) - rateOf(previous), 1),
    },
  });
  expect(body.byDay.map(({ date }) => date)).toContain('2026-03-10');
  for (const { date, merged, autonomous } of body.byDay) {
    const ofDay = current.filter((merge) => merge.date === date);
    expect([merged, autonomous]).toEqual([ofDay.length, ofDay.filter(({ alone }) => alone).length]);
  }
  const shares = await get<Record<string, number>>(`/api/pipeline/attribution?window=${window}${whose}`);
  const merged = rows.pulls.filter(({ mergedAt }) => mergedAt !== null && mergedAt >= from(window) && mergedAt <= NOW);
  expect(shares).toMatchObject({ mergedPrs: merged.length, agentPrs: merged.filter(({ byAgent }) => byAgent).length });
  expect(shares.agentRatio).toEqual(metric('agent_attribution', rows, period(window)));
}

async function costsAgree({ rows, whose, window }: Asked): Promise<void> {
  const spent = (since: number, list = rows.costs) =>
    sumUsd(list.filter(({ at }) => at >= since).map(({ usd }) => usd));
  const spans = (list = rows.costs) => ({
    last24hUsd: spent(NOW - DAY_MS, list),
    last7dUsd: spent(NOW - 7 * DAY_MS, list),
    last30dUsd: spent(NOW - 30 * DAY_MS, list),
    lifetimeUsd: spent(0, list),
  });
  const summary = await get<{ byRepo: { repo: string }[]; byAgent: { agent: string }[] }>(
    `/api/pipeline/cost-summary?${whose.slice(1)}`,
  );
  expect(summary).toMatchObject({ ...spans(), todayUsd: spent(Date.parse('2026-03-10T00:00:00Z')) });
  const slugOf = (id: number) => {
    const repo = rows.repos.find((one) => one.id === id);
    const twins = rows.repos.filter((one) => one.slug === repo?.slug);
    return twins.length > 1 ? `${repo?.slug}@${repo?.tenant}` : repo?.slug;
  };
  const byRepo = [...Map.groupBy(rows.costs, ({ repoId }) => repoId)].map(([id, list]) => ({
    repo: slugOf(id),
    ...spans(list),
  }));
  expect(summary.byRepo.toSorted((a, b) => a.repo.localeCompare(b.repo))).toEqual(
    byRepo.toSorted((a, b) => (a.repo ?? '').localeCompare(b.repo ?? '')),
  );
  for (const { agent, ...said } of summary.byAgent) {
    const list = rows.costs.filter((cost) => cost.agent === agent);
    expect(said).toEqual({ usd: spent(0, list), invocations: rows.calls.filter((one) => one.agent === agent).length });
  }
  const models = await get<{ totalUsd: number; models: Record<string, never>[] }>(
    `/api/pipeline/cost-by-model?window=${window}${whose}`,
  );
  expect(models.totalUsd).toBe(spent(from(window)));
  for (const model of models.models) {
    const named = ({ model: name, provider }: { model: string; provider: string }) =>
      name === model.model && provider === model.provider;
    const calls = rows.calls.filter((one) => named(one) && one.at >= from(window));
    const rate = (stop: string) =>
      calls.length === 0 ? 0 : round((100 * calls.filter((one) => one.stop === stop).length) / calls.length, 1);
    const tokens = (place: number) => calls.reduce((sum, one) => sum + (one.tokens[place] ?? 0), 0);
    expect(model).toMatchObject({
      usd: spent(from(window), rows.costs.filter(named)),
      invocations: calls.length,
      inputTokens: tokens(0),
      outputTokens: tokens(1),
      cacheReadTokens: tokens(2),
      cacheWriteTokens: tokens(3),
      maxTurnsRate: rate('max_turns'),
      noProgressRate: rate('no_progress'),
    });
  }
}

async function eventsAgree({ rows, whose }: Asked): Promise<void> {
  const types = ['state_transition', 'operator_action', 'no_such_type'];
  for (const [filter, wanted] of [
    ['', () => true],
    ['&issue=3', ({ issue }) => issue === 3],
    ...types.map((type) => [`&type=${type}`, (event: Rows['events'][number]) => event.type === type] as const),
    ['&issue=2&type=task_failed', ({ issue, type }) => issue === 2 && type === 'task_failed'],
  ] as [string, (event: Rows['events'][number]) => boolean][]) {
    const all = rows.events.filter(wanted);
    for (const [limit, offset] of [
      [50, 0],
      [3, 2],
    ] as const) {
      const body = await get<{ items: { id: number }[]; page: object }>(
        `/api/pipeline-events?limit=${limit}&offset=${offset}${filter}${whose}`,
      );
      expect(body.page).toEqual({ total: all.length, limit, offset, hasMore: all.length > limit + offset });
      expect(body.items.map(({ id }) => id)).toEqual(all.slice(offset, offset + limit).map(({ id }) => id));
    }
  }
}

async function reliabilityAgrees({ rows, whose, window }: Asked): Promise<void> {
  const weekly = await get<{ repos: Record<string, never>[]; degradedSeconds: number }>(
    `/api/pipeline/weekly-reliability?${whose.slice(1)}`,
  );
  const week = { from: NOW - 7 * DAY_MS, now: NOW };
  expect(weekly.degradedSeconds).toBeCloseTo(metric('fleet_degraded_time', rows, week) as number, 3);
  expect(weekly.repos).toHaveLength(rows.repos.length);
  for (const { id, slug, tenant } of rows.repos) {
    const said = weekly.repos.find(({ repo }) => repo === slug || repo === `${slug}@${tenant}`);
    const figure = (name: string) => metric(name, ofRepos(rows, [id]), week);
    expect(said).toMatchObject({
      completedCount: figure('completed'),
      recoveredCount: figure('recovered'),
      deadLetters: { count: figure('dead_letters') },
      retryBudget: {
        tasksRetried: figure('tasks_retried'),
        totalRetriesConsumed: figure('total_retries_consumed'),
      },
    });
    const cycle: { p50Seconds?: number | null; p90Seconds?: number | null } = said?.cycleTime ?? {};
    const { p50Seconds, p90Seconds } = cycle;
    for (const [mine, theirs] of [
      [p50Seconds, figure('cycle_p50')],
      [p90Seconds, figure('cycle_p90')],
    ] as const) {
      if (theirs === null) expect(mine).toBeNull();
      else expect(mine).toBeCloseTo(theirs as number, 3);
    }
  }
  const looks = await get(`/api/pipeline/retrospectives?window=${window}${whose}`);
  expect(looks).toMatchObject({
    planDriftRatio: metric('plan_drift_rate', rows, period(window)),
    byOutcome: metric('outcome_distribution', rows, period(window)),
  });
}

const AGREEMENTS = [statesAgree, flowAgrees, mergesAgree, costsAgree, eventsAgree, reliabilityAgrees];

test('every endpoint says what the rows say: folded, half folded, not folded at all, for all, a tenant and a repo', async () => {
  const ways = fc.record({
    seed: fc.integer(),
    folds: fc.constantFrom(null, 0, 1),
  });
  const property = fc.asyncProperty(ways, async ({ seed, folds }) => {
    await clearHistory(database.db);
    const history = await simulateHistory(database.db, { ...SIZE, seed, folded: folds === null });
    for (let fold = 0; fold < (folds ?? 0); fold += 1) await foldRollups(database.store.fleet);
    const all = await readRows(database);
    const [repo] = history.repos;
    const idsOf = (tenant: string) => history.repos.filter((one) => one.tenant === tenant).map(({ id }) => id);
    const scopes: [string, Rows][] = [
      ['', all],
      ['&tenant=tenant-2', ofRepos(all, idsOf('tenant-2'))],
      [`&repo=${repo?.slug}&tenant=${repo?.tenant}`, ofRepos(all, [repo?.id ?? 0])],
    ];
    for (const [whose, rows] of scopes) {
      for (const window of ['1h', '6h', '24h', '7d'] as const) {
        for (const agrees of AGREEMENTS) await agrees({ rows, whose, window });
      }
    }
  });
  await fc.assert(property, {
    numRuns: 3,
    seed: 20_260_311,
    endOnFailure: true,
    examples: [[{ seed: 1, folds: null }]],
  });
}, 120_000);

test('answers stay true while what they are made of is folded', async () => {
  await simulateHistory(database.db, { ...SIZE, issues: 400, seed: 5, folded: false });
  const paths = [
    'state-timeseries?window=7d',
    'cohort-funnel?window=7d',
    'throughput?since=7d',
    'cost-summary',
    'cost-by-model',
  ];
  const all = [...paths.map((path) => `/api/pipeline/${path}`), '/api/pipeline-events?type=task_claimed'];
  const before = await Promise.all(all.map((path) => get(path)));
  let folding = true;
  const folds = (async () => {
    while ((await foldRollups(database.store.fleet)).more);
    folding = false;
  })();
  for (let round = 0; folding || round < 2; round += 1) {
    expect(await Promise.all(all.map((path) => get(path)))).toEqual(before);
  }
  await folds;
});

describe('medians of more stays than are counted one by one', () => {
  test('are within one percent, folded or not', async () => {
    for (const folded of [true, false]) {
      await clearHistory(database.db);
      await simulateHistory(database.db, { ...SIZE, seed: 3, folded });
      const rows = await readRows(database);
      const since = new Date(Math.floor((NOW - 7 * DAY_MS) / HOUR_MS) * HOUR_MS + 20 * 60_000);
      const medians = await medianStays(
        database.store.fleet,
        { tenantId: null, repoId: null },
        { since, exactUpTo: 10 },
      );
      const exact = funnelOf(rows, Math.floor(since.getTime() / HOUR_MS) * HOUR_MS);
      expect(medians.size).toBeGreaterThan(5);
      for (const { state, medianMinutes } of exact.byState) {
        if (medianMinutes === null) continue;
        expect(Math.abs((medians.get(state) ?? 0) - medianMinutes)).toBeLessThanOrEqual(0.01 * medianMinutes + 0.001);
      }
    }
  });
});
