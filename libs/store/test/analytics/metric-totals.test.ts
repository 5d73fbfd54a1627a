import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { ensureTenant, inTransaction, metricTotals, upsertRepo } from '../../src/index.ts';
import { aRepo } from '../a-repo.ts';

const database = testDatabase();

test('the metrics name at most 100 models of an organisation when its workers invent more', async () => {
  const { store, db } = database;
  const rows = [];
  for (const org of ['one', 'two']) {
    const tenantId = await ensureTenant(store.db, org);
    const repo = await inTransaction(db, (tx) => upsertRepo(tx, tenantId, aRepo(`${org}/shop`)));
    const models = org === 'one' ? Array.from({ length: 150 }, (_, n) => `invented-${n}`) : ['real'];
    const none = { cache_read_tokens: 0, cache_write_tokens: 0, invocations: 1, max_turns: 0, no_progress: 0 };
    const key = { tenant_id: tenantId, repo_id: repo.id, grain: 'month', at: '2026-03-01T00:00:00Z' };
    for (const [n, model] of models.entries()) {
      const who = { agent: 'developer', model, provider: 'p' };
      rows.push({ ...key, ...who, ...none, usd: 1_000 - n, input_tokens: 1, output_tokens: 1 });
    }
  }
  await db.insertInto('cost_sums').values(rows).execute();
  const { costs, tokens } = await metricTotals(store.db);
  const ofOne = costs.filter(({ repo }) => repo === 'one/shop');
  expect(ofOne).toHaveLength(101);
  expect(ofOne.reduce((sum, { usd }) => sum + usd, 0)).toBe(150_000 - (149 * 150) / 2);
  expect(ofOne.map(({ model }) => model)).toEqual(expect.arrayContaining(['invented-0', 'invented-99', 'other']));
  expect(costs.filter(({ repo }) => repo === 'two/shop').map(({ model }) => model)).toEqual(['real']);
  expect(tokens.find(({ model }) => model === 'other')).toMatchObject({ input: 50, output: 50 });
});
