import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DAY_MS, MAX_CALL_TOKENS } from '@pipeline/domain';
import { aggregateRollups, checkRollups, metricTotals, spentByModel } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { clearHistory, simulateHistory } from '@pipeline/testing/history';
import { type RawBuilder, sql } from 'kysely';
import { MIGRATIONS } from '../../src/schema/migrations/index.ts';

const database = testDatabase();
const END = new Date('2026-03-10T12:34:56Z');
const SIZE = { tenants: 2, repos: 2, days: 3, issues: 20, end: END };
const ALL = {
  from: new Date(END.getTime() - 7 * DAY_MS).toISOString(),
  to: new Date(END.getTime() + DAY_MS).toISOString(),
};
/** Values of a call that an earlier release accepted. */
const POISON = Number.MAX_SAFE_INTEGER;

beforeEach(() => {
  database.clock.now = END;
});
afterEach(() => clearHistory(database.db));

async function aggregateAll(): Promise<void> {
  while ((await aggregateRollups(database.store.fleet)).more);
}

/** Sets the token counts of two calls to values that an earlier release accepted, with deltas for the rollups. */
async function poison(): Promise<void> {
  await sql`
    with poisoned as (
      select tenant_id, run_id, invocation_index, ${POISON}::bigint - output_tokens as more
      from agent_invocations order by tenant_id, run_id, invocation_index limit 2
    ), calls as (
      update agent_invocations a set output_tokens = a.output_tokens + p.more from poisoned p
      where p.tenant_id = a.tenant_id and p.run_id = a.run_id and p.invocation_index = a.invocation_index
      returning a.tenant_id, a.run_id, a.model, a.provider, a.created_at, p.more
    )
    insert into rollup_deltas (tenant_id, repo_id, body)
    select r.tenant_id, r.repo_id, ${bodyOf(sql`r.agent`, sql`a`)}
    from calls a join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id`.execute(database.db);
}

/** A delta of one call of `call` (model, provider, created_at, more) that has `more` output tokens. */
const bodyOf = (agent: RawBuilder<unknown>, call: RawBuilder<unknown>) => sql`
  jsonb_build_object('moves', '[]'::jsonb, 'events', '[]'::jsonb, 'costs', jsonb_build_array(jsonb_build_object(
    'agent', ${agent}, 'model', ${call}.model, 'provider', ${call}.provider, 'usd', 0, 'call', jsonb_build_object(
      'at', ${call}.created_at, 'invocations', 0, 'inputTokens', 0, 'outputTokens', ${call}.more, 'cacheReadTokens', 0,
      'cacheWriteTokens', 0, 'maxTurns', 0, 'noProgress', 0))))`;

const wrong = async () =>
  (await checkRollups(database.store.fleet, ALL, false)).filter((check) => check.wrong > 0).map(({ table }) => table);

const outputTokens = async () => {
  const { rows } = await sql<{ most: number; calls: number; sums: number }>`
    select (select max(output_tokens) from agent_invocations) as most,
      (select sum(output_tokens) from agent_invocations) as calls,
      (select sum(output_tokens) from cost_sums where grain = 'month') as sums`.execute(database.db);
  return rows[0];
};

test('saturates reads and continues aggregating when sums exceed bigint and JSON numbers', async () => {
  await simulateHistory(database.db, { ...SIZE, seed: 31, aggregated: false });
  await aggregateAll();
  await sql`update cost_sums set output_tokens = 1e37, usd = 1e23`.execute(database.db);
  await sql`
    insert into rollup_deltas (tenant_id, repo_id, body)
    select a.tenant_id, a.repo_id, ${bodyOf(sql`a.agent`, sql`a`)}
    from (select *, at as created_at, ${POISON}::bigint as more from cost_sums where grain = 'hour') a`.execute(
    database.db,
  );
  await aggregateAll();
  const { tokens, costs } = await metricTotals(database.store.fleet);
  expect(new Set(tokens.map(({ output }) => output))).toEqual(new Set([Number.MAX_SAFE_INTEGER]));
  expect(new Set(costs.map(({ usd }) => usd))).toEqual(new Set([Number.MAX_SAFE_INTEGER]));
  const models = await spentByModel(database.store.fleet, { tenantId: null, repoId: null }, null);
  expect(new Set(models.map(({ outputTokens }) => outputTokens))).toEqual(new Set([Number.MAX_SAFE_INTEGER]));
});

test.each([
  ['aggregated', true],
  ['still waiting', false],
])('the migration corrects calls and sums when counts above the bound are %s', async (_what, aggregated) => {
  await simulateHistory(database.db, { ...SIZE, seed: 32, aggregated: false });
  await poison();
  if (aggregated) await aggregateAll();
  expect(await wrong()).toEqual([]);
  await MIGRATIONS['0031-boundless-sums']?.up(database.db as never);
  await aggregateAll();
  const after = await outputTokens();
  expect(after?.most).toBe(MAX_CALL_TOKENS);
  expect(after?.sums).toBe(after?.calls);
  expect(await wrong()).toEqual([]);
});
