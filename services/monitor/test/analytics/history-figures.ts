import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DAY_MS, HOUR_MS, type Window } from '@pipeline/domain';
import { closeFacts, medianDwellTimes } from '@pipeline/store';
import { clearHistory, simulateHistory } from '@pipeline/testing/history';
import {
  attributionOf,
  autonomyOf,
  cohortFunnelOf,
  costByModelOf,
  costSummaryOf,
  differences,
  funnelOf,
  ofRepos,
  type Rows,
  readRows,
  retrospectivesOf,
  scoreboardOf,
  stateTimeseriesOf,
  throughputOf,
  weeklyReliabilityOf,
} from '@pipeline/testing/oracle';
import fc from 'fast-check';
import { engineOn } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('figures of a history', () => {
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

  const scoreboards = (rows: Rows, ...windows: string[]): [string, object][] =>
    windows.flatMap((window) =>
      (['all', 'compared'] as const).map((tasks): [string, object] => [
        `/api/agents/scoreboard?window=${window}&tasks=${tasks}`,
        scoreboardOf(rows, { window, tasks }, NOW),
      ]),
    );

  /** Each question, and what the rows say to it. */
  function answersOf(rows: Rows, window: Window): [string, object][] {
    return [
      ...[1, 7, 48, 168].map((buckets): [string, object] => [
        `/api/pipeline/state-timeseries?window=${window}&buckets=${buckets}`,
        stateTimeseriesOf(rows, { window, buckets }, NOW),
      ]),
      [`/api/pipeline/cohort-funnel?window=${window}`, cohortFunnelOf(rows, window, NOW).wanted],
      [`/api/pipeline/throughput?since=${window}`, throughputOf(rows, window, NOW)],
      ['/api/pipeline/throughput?since=today', throughputOf(rows, 'today', NOW)],
      [`/api/pipeline/autonomy?window=${window}`, autonomyOf(rows, window, NOW)],
      [`/api/pipeline/attribution?window=${window}`, attributionOf(rows, window, NOW)],
      ['/api/pipeline/cost-summary?', costSummaryOf(rows, NOW)],
      [`/api/pipeline/cost-by-model?window=${window}`, costByModelOf(rows, window, NOW)],
      ['/api/pipeline/weekly-reliability?', weeklyReliabilityOf(rows, NOW)],
      [`/api/pipeline/retrospectives?window=${window}`, retrospectivesOf(rows, window, NOW)],
      ...scoreboards(rows, window),
    ];
  }

  async function compareAnswers(whose: string, rows: Rows): Promise<void> {
    for (const window of ['1h', '6h', '24h', '7d'] as const)
      for (const [path, wanted] of answersOf(rows, window)) {
        const { different } = differences(await get(path + whose), wanted);
        expect([path + whose, different]).toEqual([path + whose, []]);
      }
  }

  test('every endpoint agrees with the rows when all, some or no facts are closed, for all, a tenant and a repo', async () => {
    const ways = fc.record({
      seed: fc.integer(),
      closed: fc.constantFrom(null, 0, 1, 200),
    });
    const property = fc.asyncProperty(ways, async ({ seed, closed }) => {
      await clearHistory(database.db);
      const history = await simulateHistory(database.db, { ...SIZE, seed, aggregated: closed === null });
      if (closed) await closeFacts(database.store.db, closed);
      const all = await readRows(database.db);
      const [repo] = history.repos;
      const idsOf = (tenant: string) => history.repos.filter((one) => one.tenant === tenant).map(({ id }) => id);
      const scopes: [string, Rows][] = [
        ['', all],
        ['&tenant=tenant-2', ofRepos(all, idsOf('tenant-2'))],
        [`&repo=${repo?.slug}&tenant=${repo?.tenant}`, ofRepos(all, [repo?.id ?? 0])],
      ];
      for (const [whose, rows] of scopes) await compareAnswers(whose, rows);
    });
    await fc.assert(property, {
      numRuns: 3,
      seed: 20_260_311,
      endOnFailure: true,
      examples: [[{ seed: 1, closed: null }]],
    });
  });

  test('answers stay true while facts are closed', async () => {
    await simulateHistory(database.db, { ...SIZE, issues: 400, seed: 5, aggregated: false });
    const paths = [
      'state-timeseries?window=7d',
      'cohort-funnel?window=7d',
      'throughput?since=7d',
      'cost-summary',
      'cost-by-model',
    ];
    const all = [...paths.map((path) => `/api/pipeline/${path}`), '/api/pipeline-events?type=task_claimed'];
    const before = await Promise.all(all.map((path) => get(path)));
    let closing = true;
    const hours = (async () => {
      while (await closeFacts(database.store.db, 6));
      closing = false;
    })();
    for (let round = 0; closing || round < 2; round += 1) {
      expect(await Promise.all(all.map((path) => get(path)))).toEqual(before);
    }
    await hours;
  });

  describe('medians of more stays than are counted one by one', () => {
    test('medians are within one percent, aggregated or not', async () => {
      for (const aggregated of [true, false]) {
        await clearHistory(database.db);
        await simulateHistory(database.db, { ...SIZE, seed: 3, aggregated });
        const rows = await readRows(database.db);
        const since = new Date(Math.floor((NOW - 7 * DAY_MS) / HOUR_MS) * HOUR_MS + 20 * 60_000);
        const medians = await medianDwellTimes(
          database.store.db,
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

  afterAll(() => database.clear());
});
