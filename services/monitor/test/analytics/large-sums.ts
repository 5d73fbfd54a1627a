import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HOUR_MS } from '@pipeline/domain';
import { claim, progress, registerWorker, start } from '@pipeline/engine';
import { closeFacts } from '@pipeline/store';
import { Registry } from 'prom-client';
import { createTotals } from '../../src/prometheus/totals.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('large sums', () => {
  let bench: Bench;
  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    bench = await makeBench(database.store, 'acme/shop');
    await admit(bench, 7);
    ({ call, close } = await serveConnected({ engine: bench.engine }));
  });
  afterAll(() => close());

  /** Books calls as an earlier release did, which had no bounds. */
  async function bookUnbounded(outputTokens: number): Promise<void> {
    const worker = { name: 'w', hostname: '', version: '1', repos: [], taskTypes: ['analyze' as const], labels: {} };
    const workerId = await registerWorker(bench.engine, bench.tenantId, worker);
    const wanted = { tenantId: bench.tenantId, workerId, taskTypes: ['analyze' as const], repoIds: null };
    const task = await claim(bench.engine, wanted);
    if (!task) throw new Error('there is nothing to claim');
    const ref = { tenantId: bench.tenantId, taskId: task.id, claimToken: task.claimToken };
    await start(bench.engine, ref);
    const tokens = { inputTokens: 0, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const made = { model: 'm', provider: 'p', turns: 1, costUsd: 1, stopReason: 'completed' as const };
    const invocations = [0, 1].map((index) => ({ index, ...made, ...tokens }));
    await progress(bench.engine, ref, { status: 's', details: null, invocations });
  }

  test('figures are answered and totals refreshed when an earlier release took tokens beyond the bounds', async () => {
    await bookUnbounded(Number.MAX_SAFE_INTEGER);
    const totals = createTotals(new Registry(), database.store);
    for (const isClosed of [false, true]) {
      if (isClosed) {
        database.clock.now = new Date(Date.now() + 2 * HOUR_MS);
        while (await closeFacts(database.store.db));
      }
      for (const path of ['/api/pipeline/cost-by-model', '/pipeline/cost-by-model', '/api/pipeline/cost-summary']) {
        expect([path, (await call('GET', path)).status]).toEqual([path, 200]);
      }
      const { models } = (await call('GET', '/api/pipeline/cost-by-model')).json as unknown as {
        models: { outputTokens: number }[];
      };
      expect(models.map(({ outputTokens }) => outputTokens)).toEqual([Number.MAX_SAFE_INTEGER]);
      await totals.refresh();
    }
  });

  afterAll(() => database.clear());
});
