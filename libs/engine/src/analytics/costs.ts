import { type CostWindow, costWindowStart, percent, sumUsd, utcMidnight } from '@pipeline/domain';
import {
  type AnalyticsScope,
  type CostSpan,
  type CostSums,
  type Db,
  type Spent,
  spentByModel,
  spentByRepoAndAgent,
  storeNow,
} from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { findScope, type ScopeQuery } from './scope.ts';
import { slugsOf } from './slugs.ts';

const share = (part: number, whole: number): number => percent(part, whole) ?? 0;

const SPANS = { last24h: '24h', last7d: '7d', last30d: '30d', lifetime: 'lifetime' } as const;

const spentIn = (rows: readonly Spent[], span: CostSpan): number =>
  sumUsd(rows.filter((row) => row.span === span).map(({ usd }) => usd));

const unreportedIn = (rows: readonly Spent[], span: CostSpan): number =>
  rows.reduce((sum, row) => (row.span === span ? sum + row.unreported_costs : sum), 0);

const bySpan = (rows: readonly Spent[]) => ({
  last24hUsd: spentIn(rows, 'last24h'),
  last7dUsd: spentIn(rows, 'last7d'),
  last30dUsd: spentIn(rows, 'last30d'),
  lifetimeUsd: spentIn(rows, 'lifetime'),
  last24hUnreportedCosts: unreportedIn(rows, 'last24h'),
  last7dUnreportedCosts: unreportedIn(rows, 'last7d'),
  last30dUnreportedCosts: unreportedIn(rows, 'last30d'),
  lifetimeUnreportedCosts: unreportedIn(rows, 'lifetime'),
});

/** Costs within a scope in each window, by repo and agent; and the time by the store's clock. */
export async function readSpending(db: Db, scope: AnalyticsScope): Promise<{ rows: Spent[]; now: string }> {
  const now = await storeNow(db);
  const at = new Date(now);
  const spans = Object.entries(SPANS).map(([name, window]) => [name, costWindowStart(window, at)] as const);
  const starts = { ...Object.fromEntries(spans), today: utcMidnight(at) };
  return { rows: await spentByRepoAndAgent(db, scope, starts), now };
}

/** The sum of each window (interface: CostByWindow). */
export const costByWindow = (rows: readonly Spent[]): CostSums => ({
  ...bySpan(rows),
  todayUsd: spentIn(rows, 'today'),
  todayUnreportedCosts: unreportedIn(rows, 'today'),
});

/** Costs within a scope, by window, repo and agent. */
export async function spendingSummary(engine: Engine, asked: ScopeQuery) {
  const { db } = engine.store;
  const scope = await findScope(engine, asked);
  const { rows, now: serverTimestamp } = await readSpending(db, scope);
  const slugs = await slugsOf(db, scope);
  const byRepo = [...Map.groupBy(rows, (row) => row.repo_id)].map(([id, all]) => ({
    repo: slugs.get(id) ?? '',
    ...bySpan(all),
  }));
  const lifetime = rows.filter(({ span }) => span === 'lifetime');
  const byAgent = [...Map.groupBy(lifetime, ({ agent }) => agent)].map(([agent, all]) => ({
    agent,
    usd: spentIn(all, 'lifetime'),
    invocations: all.reduce((sum, { invocations }) => sum + invocations, 0),
    unreportedCosts: unreportedIn(all, 'lifetime'),
  }));
  return {
    ...costByWindow(rows),
    byRepo: byRepo.sort((a, b) => b.lifetimeUsd - a.lifetimeUsd || a.repo.localeCompare(b.repo)),
    byAgent: byAgent.sort((a, b) => b.usd - a.usd || a.agent.localeCompare(b.agent)),
    serverTimestamp,
  };
}

/** Cost per model within a window, and how often its calls ended without a result. */
export async function costByModel(engine: Engine, asked: ScopeQuery & { window: CostWindow }) {
  const { db } = engine.store;
  const scope = await findScope(engine, asked);
  const serverTimestamp = await storeNow(db);
  const rows = await spentByModel(db, scope, costWindowStart(asked.window, new Date(serverTimestamp)));
  const total = sumUsd(rows.map(({ usd }) => usd));
  return {
    window: asked.window,
    totalUsd: total,
    totalUnreportedCosts: rows.reduce((sum, { unreportedCosts }) => sum + unreportedCosts, 0),
    models: rows.map(({ maxTurns, noProgress, ...row }) => {
      const usd = sumUsd([row.usd]);
      return {
        ...row,
        usd,
        // Computed from the displayed sums, as the registry defines it.
        sharePct: share(usd, total),
        maxTurnsRate: share(maxTurns, row.invocations),
        noProgressRate: share(noProgress, row.invocations),
      };
    }),
    serverTimestamp,
  };
}
