import { beforeAll, describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { type RawBuilder, sql } from 'kysely';
import {
  agentSpendToday,
  fleetCosts,
  fleetRepos,
  fleetStateCounts,
  issuesInFlight,
  openAlerts,
  openLettersByRepo,
  type Store,
  spendByTenant,
} from '../../src/index.ts';
import { makeHistory, scannedBy } from './history.ts';

const database = testDatabase();
beforeAll(() => makeHistory(database), 240_000);

const number = async (statement: RawBuilder<{ n: number }>) => (await statement.execute(database.db)).rows[0]?.n ?? 0;
const usdSince = (from: string) =>
  number(sql<{ n: number }>`
  select coalesce(round(sum(amount_usd), 4), 0)::float8 as n from cost_events where created_at >= ${sql.raw(from)}`);

describe('with 100,000 issues and a million events', () => {
  test.each<[string, (store: Store) => Promise<unknown>]>([
    ['where issues are', (store) => fleetStateCounts(store.fleet)],
    ['the repos', (store) => fleetRepos(store.fleet)],
    ['what it costs', (store) => fleetCosts(store.fleet)],
    ['what tenants spend', (store) => spendByTenant(store.fleet)],
    ['what agents spend', (store) => agentSpendToday(store.fleet)],
    ['letters', (store) => openLettersByRepo(store.fleet)],
    ['what is worked on', (store) => issuesInFlight(store.fleet)],
    ['alerts', (store) => openAlerts(store.fleet, 500)],
  ])('%s: no table of the history is read from end to end', async (_what, read) => {
    expect(await scannedBy(database, read)).toEqual([]);
  });

  test('costs of windows that begin in the middle of a day are those of their events', async () => {
    const costs = await fleetCosts(database.store.fleet);
    const midnight = `date_trunc('day', now(), 'UTC')`;
    expect(costs).toEqual({
      last24hUsd: await usdSince(`now() - interval '1 day'`),
      last7dUsd: await usdSince(`now() - interval '7 days'`),
      last30dUsd: await usdSince(`now() - interval '30 days'`),
      lifetimeUsd: await usdSince(`'-infinity'`),
      todayUsd: await usdSince(midnight),
    });
    expect(costs.last7dUsd).toBeGreaterThan(costs.last24hUsd);
    const today = (await agentSpendToday(database.store.fleet)).reduce((sum, { usd }) => sum + usd, 0);
    expect(today).toBeCloseTo(costs.todayUsd, 4);
    const tenants = await spendByTenant(database.store.fleet);
    expect(tenants.reduce((sum, { todayUsd }) => sum + todayUsd, 0)).toBeCloseTo(costs.todayUsd, 4);
  });

  test('the counters say how many issues there are', async () => {
    const counts = await fleetStateCounts(database.store.fleet);
    expect(counts.reduce((sum, { n }) => sum + n, 0)).toBe(100_000);
  });
});
