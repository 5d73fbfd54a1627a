import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DAY_MS, utcMidnight } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import { clearHistory, type History, simulateHistory } from '@pipeline/testing/history';
import { sql } from 'kysely';
import { type CostSums, closeFacts, costSummary, type OrgScope, repoOverview } from '../../src/index.ts';

const database = testDatabase();
const END = new Date('2026-03-10T12:34:56Z');
const SIZE = { tenants: 2, repos: 6, days: 45, issues: 300, seed: 21, end: END };
const DAY_START = utcMidnight(END).toISOString();

beforeEach(() => {
  database.clock.now = END;
});
afterEach(() => clearHistory(database.db));

interface Booking {
  repoId: number;
  repo: string;
  agent: string;
  call: string;
  usd: number;
  at: number;
  /** Not a booking but a call without a cost. */
  isUnreported: boolean;
}

/** Every cost event in scope, one by one, and every call whose cost is unreported. */
async function bookingsOf({ tenantId, repoIds }: OrgScope): Promise<Booking[]> {
  const { rows } = await sql<Booking>`
    select c.repo_id as "repoId", r.owner || '/' || r.name as repo, c.agent, c.run_id || '/' || c.invocation_index as call,
      c.usd, (extract(epoch from c.created_at) * 1000)::float8 as at, c.is_unreported as "isUnreported"
    from (
      select tenant_id, repo_id, agent, run_id, invocation_index, amount_usd as usd, created_at, false as is_unreported
      from cost_events
      union all
      select a.tenant_id, u.repo_id, u.agent, a.run_id, a.invocation_index, 0, a.created_at, true
      from agent_invocations a join runs u on u.id = a.run_id where a.cost_usd is null
    ) c join repos r on r.id = c.repo_id
    where c.tenant_id = ${tenantId} and r.enabled and (${repoIds}::bigint[] is null or r.id = any(${repoIds}::bigint[]))`.execute(
    database.db,
  );
  return rows;
}

const sumOf = (bookings: readonly Booking[], from = 0) =>
  Math.round(bookings.reduce((sum, { at, usd }) => (at >= from ? sum + Math.round(usd * 1e6) : sum), 0) / 100) / 1e4;

const unreported = (bookings: readonly Booking[], from = 0) =>
  bookings.filter(({ at, isUnreported }) => isUnreported && at >= from).length;

const naive = (bookings: readonly Booking[]): CostSums => ({
  last24hUsd: sumOf(bookings, END.getTime() - DAY_MS),
  last7dUsd: sumOf(bookings, END.getTime() - 7 * DAY_MS),
  last30dUsd: sumOf(bookings, END.getTime() - 30 * DAY_MS),
  lifetimeUsd: sumOf(bookings),
  todayUsd: sumOf(bookings, utcMidnight(END).getTime()),
  last24hUnreportedCosts: unreported(bookings, END.getTime() - DAY_MS),
  last7dUnreportedCosts: unreported(bookings, END.getTime() - 7 * DAY_MS),
  last30dUnreportedCosts: unreported(bookings, END.getTime() - 30 * DAY_MS),
  lifetimeUnreportedCosts: unreported(bookings),
  todayUnreportedCosts: unreported(bookings, utcMidnight(END).getTime()),
});

/** A member, an owner, and a member with a grant for a disabled repo. */
async function scopesOf({ repos }: History): Promise<OrgScope[]> {
  const [first, second, third] = repos.filter(({ tenantId }) => tenantId === repos[0]?.tenantId);
  if (!first || !second || !third) throw new Error('three repos of one tenant are needed');
  await sql`update repos set enabled = false where id = ${third.id}`.execute(database.db);
  const reaches = [null, [first.id], [second.id, third.id]];
  return reaches.map(
    (repoIds) => ({ tenantId: first.tenantId, repoIds, userId: 1, role: 'owner' }) as unknown as OrgScope,
  );
}

async function agrees(scope: OrgScope): Promise<void> {
  const bookings = await bookingsOf(scope);
  const { total, byRepo, byAgent } = await costSummary(database.store.reads, scope, { dayStart: DAY_START });
  expect(total).toEqual(naive(bookings));
  for (const { repo, ...usd } of byRepo) {
    const { todayUsd: _, todayUnreportedCosts: __, ...expected } = naive(bookings.filter((one) => one.repo === repo));
    expect([repo, usd]).toEqual([repo, expected]);
  }
  const agents = [...Map.groupBy(bookings, ({ agent }) => agent)].map(([agent, all]) => ({
    agent,
    usd: sumOf(all),
    unreportedCosts: unreported(all),
    invocations: new Set(all.map(({ call }) => call)).size,
  }));
  expect(byAgent.toSorted((a, b) => a.agent.localeCompare(b.agent))).toEqual(
    agents.sort((a, b) => a.agent.localeCompare(b.agent)),
  );
  for (const { repo } of byRepo) {
    const overview = await repoOverview(database.store.reads, scope, repo, { silenceMs: 30_000, dayStart: DAY_START });
    const alone = await costSummary(database.store.reads, scope, { dayStart: DAY_START, slug: repo.toUpperCase() });
    expect([repo, alone.total, alone.byRepo.length]).toEqual([repo, overview?.cost, 1]);
    expect([repo, overview?.cost]).toEqual([repo, naive(bookings.filter((one) => one.repo === repo))]);
  }
}

test.each([
  ['none is', 0],
  ['some are', 36 * 24],
  ['all are', 46 * 24],
])('costs equal the sum of the cost events in scope when %s closed', async (_what, hours) => {
  const history = await simulateHistory(database.db, { ...SIZE, aggregated: false });
  if (hours > 0) await closeFacts(database.store.db, hours);
  for (const scope of await scopesOf(history)) {
    const { last24hUsd, last24hUnreportedCosts } = naive(await bookingsOf(scope));
    expect(Math.min(last24hUsd, last24hUnreportedCosts)).toBeGreaterThan(0);
    await agrees(scope);
  }
});
