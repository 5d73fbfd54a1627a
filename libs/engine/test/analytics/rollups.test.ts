import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type Invocation } from '@pipeline/domain';
import {
  costByModel,
  extend,
  progress,
  spendingSummary,
  stateTimeseries,
  tenantBudgets,
  throughput,
} from '@pipeline/engine';
import { closeFacts, metricTotals } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { clearHistory } from '@pipeline/testing/history';
import { sql } from 'kysely';
import { applyHostIssue, type Bench, hostIssue, makeBench, paid, refOf, take } from '../harness.ts';

const database = testDatabase();
const at = (time: string) => {
  database.clock.now = new Date(`2026-03-${time}Z`);
};
let bench: Bench;

beforeEach(async () => {
  at('05T09:00:00');
  bench = await makeBench(database.store);
});
afterEach(() => clearHistory(database.db));

async function closeAll(): Promise<void> {
  while (await closeFacts(database.store.db));
}

const call = (more: Partial<Invocation>): Invocation => ({ ...paid(more.costUsd ?? 0), ...more });
const said = (invocations: Invocation[]) => ({ status: 'at it', details: null, invocations });

test('changes show immediately, and as they were when their facts are closed', async () => {
  await applyHostIssue(bench, hostIssue(1));
  at('05T09:10:00');
  const task = await take(bench);
  const states = async () => {
    const { buckets } = await stateTimeseries(bench.engine, { window: '1h', buckets: 4 });
    return buckets.map((bucket) => [bucket.states.analyzing, bucket.states.planning]);
  };
  expect(await states()).toEqual([
    [0, 0],
    [0, 0],
    [0, 0],
    [1, 0],
  ]);
  await progress(bench.engine, refOf(bench, task), said([call({ costUsd: 1 })]));
  expect((await spendingSummary(bench.engine, {})).todayUsd).toBe(1);
  const totals = await metricTotals(database.store.db);
  expect(totals.transitions).toMatchObject([{ from: 'new', to: 'analyzing', n: 1 }]);
  at('06T01:10:00');
  await closeAll();
  expect(await metricTotals(database.store.db)).toEqual(totals);
  expect((await spendingSummary(bench.engine, {})).last24hUsd).toBe(1);
  expect((await throughput(bench.engine, { since: '24h' })).count).toBe(0);
});

describe('costs', () => {
  beforeEach(() => applyHostIssue(bench, hostIssue(1)));

  test('computes the cost of a call without one from its tokens, by the row * for an unknown model', async () => {
    const task = await take(bench);
    const tokens = { inputTokens: 1_000_000, outputTokens: 100_000, cacheReadTokens: 1_000_000, cacheWriteTokens: 0 };
    const unpriced = (index: number, model: string) => call({ index, model, costUsd: null, ...tokens });
    await sql`update model_prices set input_usd = 2 where pattern = 'claude-sonnet-4*'`.execute(database.db);
    await progress(
      bench.engine,
      refOf(bench, task),
      said([
        unpriced(0, 'claude-sonnet-4-5'),
        unpriced(1, 'house-model'),
        call({ index: 2, model: 'house-model', costUsd: 0 }),
      ]),
    );
    const { models, totalUsd } = await costByModel(bench.engine, { window: '24h' });
    const usd = Object.fromEntries(models.map((one) => [one.model, one.usd]));
    expect(usd).toEqual({ 'claude-sonnet-4-5': 2 + 1.5 + 0.3, 'house-model': 15 + 7.5 + 1.5 });
    expect(totalUsd).toBe(27.8);
    await sql`update model_prices set input_usd = 3 where pattern = 'claude-sonnet-4*'`.execute(database.db);
  });

  test('a repeatedly reported call has its costs at the time of recording, tokens and reasons at its beginning', async () => {
    at('05T09:59:40');
    const ref = refOf(bench, await take(bench));
    await progress(bench.engine, ref, said([call({ costUsd: 1, inputTokens: 100_000 })]));
    at('05T10:00:10');
    await progress(bench.engine, ref, said([call({ costUsd: 3, inputTokens: 500_000, stopReason: 'max_turns' })]));
    await progress(bench.engine, ref, said([call({ costUsd: 2, inputTokens: 200_000, stopReason: 'max_turns' })]));
    const last = async (window: '1h' | '24h') => (await costByModel(bench.engine, { window })).models;
    expect(await last('24h')).toMatchObject([{ usd: 3, inputTokens: 500_000, invocations: 1, maxTurnsRate: 100 }]);
    at('05T10:59:50');
    expect(await last('1h')).toMatchObject([{ usd: 2, inputTokens: 0, invocations: 0, maxTurnsRate: 0 }]);
  });

  test('costs are null and counted in every sum while a call reports neither a cost nor tokens with a price', async () => {
    const ref = refOf(bench, await take(bench));
    const silent = (index: number) => call({ index, costUsd: null, inputTokens: 0, outputTokens: 0 });
    const stored = async () => {
      const { rows } = await sql`select cost_usd from agent_invocations order by invocation_index`.execute(database.db);
      return rows;
    };
    const counts = async () => {
      const { todayUsd, todayUnreportedCosts, last24hUnreportedCosts, byRepo, byAgent } = await spendingSummary(
        bench.engine,
        {},
      );
      const { totalUnreportedCosts, models } = await costByModel(bench.engine, { window: '24h' });
      return {
        todayUsd,
        counted: [
          ...[todayUnreportedCosts, last24hUnreportedCosts, byRepo[0]?.lifetimeUnreportedCosts, totalUnreportedCosts],
          ...[byAgent[0]?.unreportedCosts, models[0]?.unreportedCosts],
        ],
      };
    };
    await progress(bench.engine, ref, said([silent(0), silent(1), call({ index: 2, costUsd: 0 })]));
    expect(await stored()).toEqual([{ cost_usd: null }, { cost_usd: null }, { cost_usd: 0 }]);
    expect(await counts()).toEqual({ todayUsd: 0, counted: Array(6).fill(2) });
    await progress(bench.engine, ref, said([silent(0), call({ index: 1, costUsd: 3 }), silent(2)]));
    expect(await stored()).toEqual([{ cost_usd: null }, { cost_usd: 3 }, { cost_usd: 0 }]);
    expect(await counts()).toEqual({ todayUsd: 3, counted: Array(6).fill(1) });
    expect((await tenantBudgets(bench.engine)).tenants).toMatchObject([
      { unreportedCostsToday: 1, unreportedCostsMonth: 1 },
    ]);
    const issue = database.db.selectFrom('issues').select('unreported_costs').where('tenant_id', '=', bench.tenantId);
    expect(await issue.executeTakeFirst()).toEqual({ unreported_costs: 1 });
    at('05T11:00:00');
    await closeAll();
    expect((await tenantBudgets(bench.engine)).tenants).toMatchObject([
      { unreportedCostsToday: 1, unreportedCostsMonth: 1 },
    ]);
    expect(await counts()).toEqual({ todayUsd: 3, counted: Array(6).fill(1) });
  });

  test('a call that grows after its hour was closed counts at its beginning, before and after its hour is computed again', async () => {
    at('05T09:59:00');
    const ref = refOf(bench, await take(bench));
    await progress(
      bench.engine,
      ref,
      said([
        call({ costUsd: 1, inputTokens: 100_000 }),
        call({ index: 1, costUsd: null, inputTokens: 0, outputTokens: 0 }),
      ]),
    );
    for (let half = 119; half <= 130; half += 1) {
      database.clock.now = new Date(Date.parse('2026-03-05T09:00:00Z') + half * 30_000);
      await extend(bench.engine, ref);
    }
    expect(database.clock.now?.toISOString()).toBe('2026-03-05T10:05:00.000Z');
    await closeAll();
    const later = [call({ costUsd: 3, inputTokens: 500_000, stopReason: 'max_turns' }), call({ index: 1, costUsd: 2 })];
    await progress(bench.engine, ref, said(later));
    await progress(bench.engine, ref, said(later));
    at('05T10:59:30');
    const figures = async () => ({
      day: await costByModel(bench.engine, { window: '24h' }),
      hour: (await costByModel(bench.engine, { window: '1h' })).models,
      spent: await spendingSummary(bench.engine, {}),
      totals: await metricTotals(database.store.db),
    });
    const before = await figures();
    expect(before.day.models).toMatchObject([{ usd: 5, invocations: 2, unreportedCosts: 0, maxTurnsRate: 50 }]);
    expect(before.hour).toMatchObject([{ usd: 4, invocations: 0, inputTokens: 0, unreportedCosts: 0 }]);
    expect(await database.db.selectFrom('late_costs').select('hour').execute()).not.toEqual([]);
    await closeAll();
    expect(await database.db.selectFrom('late_costs').select('hour').execute()).toEqual([]);
    expect(await figures()).toEqual(before);
  });

  test('shows the costs per tenant with its budget', async () => {
    await makeBench(database.store, { slug: 'idle/shop' });
    const task = await take(bench);
    await progress(bench.engine, refOf(bench, task), said([call({ costUsd: 9 })]));
    const limits = { dailyUsd: 10, monthlyUsd: null, perIssueUsd: null };
    const engine = { ...bench.engine, settings: () => ({ ...DEFAULT_SETTINGS, costLimits: limits }) };
    const { tenants, ...totals } = await tenantBudgets(engine);
    expect(totals).toEqual({ totalSpentTodayUsd: 9, totalSpentMonthUsd: 9, generatedAt: '2026-03-05T09:00:00.000Z' });
    expect(tenants).toMatchObject([
      { externalId: 'acme', spentTodayUsd: 9, percentUsedDaily: 90, status: 'warning', inFlightIssues: 1 },
      { externalId: 'idle', spentTodayUsd: 0, percentUsedDaily: 0, status: 'ok', inFlightIssues: 0 },
    ]);
    // Four days and nine hours of 31 days.
    expect(tenants[0]).toMatchObject({ projectedMonthUsd: 63.7714, resetAt: '2026-03-06T00:00:00.000Z' });
  });
});
