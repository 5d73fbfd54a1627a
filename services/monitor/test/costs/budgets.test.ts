import { expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { addDailySpend, inTransaction, writeSettings } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { enforceCurrentBudgets } from '../../src/loops/upkeep.ts';
import { admit, makeBench } from '../support/bench.ts';
import { serveConnected } from '../support/served-app.ts';

const database = testDatabase();

test('the limits that were written for all hold and release, not those of this process; a retry changes nothing', async () => {
  const bench = await makeBench(database.store, 'acme/shop');
  await admit(bench, 1);
  await inTransaction(database.store.tenant, (tx) =>
    addDailySpend(tx, bench.tenantId, { repoId: bench.repo.id, usd: 5 }),
  );
  const tick = () => enforceCurrentBudgets(bench.engine);
  const held = async () => (await database.db.selectFrom('tasks').select('held').executeTakeFirst())?.held;
  await tick();
  expect(await held()).toBeNull();
  await writeSettings(database.store.fleet, { costLimits: { dailyUsd: 5 } });
  await tick();
  expect(await held()).toBe('budget');

  const costLimits = { dailyUsd: 5, monthlyUsd: null, perIssueUsd: null };
  bench.engine.settings = () => ({ ...DEFAULT_SETTINGS, costLimits });
  const { call, close } = await serveConnected({ engine: bench.engine });
  expect((await call('POST', '/api/issues/acme/shop/1/retry')).status).toBe(200);
  await close();
  expect(await held()).toBe('budget');

  await writeSettings(database.store.fleet, { costLimits: { dailyUsd: 6 } });
  await tick();
  expect(await held()).toBeNull();
});
