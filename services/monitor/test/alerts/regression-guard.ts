import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { KPIS } from '@pipeline/domain';
import { readKpis, watchKpis } from '@pipeline/engine';
import { sql } from 'kysely';
import { PolledValue } from '../../src/polling/polled-value.ts';
import type { RegressionGuardDeps } from '../../src/routes/alerts/regression-guard.ts';
import { type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('the regression guard', () => {
  const NOW = new Date('2026-06-17T12:00:00.000Z');

  let bench: Bench;
  let kpis: RegressionGuardDeps['kpis'];
  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    database.clock.now = NOW;
    bench = await makeBench(database.store, 'Acme/Shop');
    kpis = new PolledValue(
      () => readKpis(database.store),
      () => NOW,
    );
    ({ call, close } = await serveConnected({ engine: bench.engine, kpis }));
  });
  afterAll(() => close());

  const read = async () => (await call('GET', '/api/regression-guard')).json as unknown;

  test('before the first poll it is empty and says that it was never read', async () => {
    expect(await read()).toEqual({ repos: [], polledAt: null });
  });

  test('a repo that was looked at has all KPIs, unknown where nothing happened', async () => {
    await watchKpis(bench.engine);
    await kpis.refresh();
    expect(await read()).toEqual({
      repos: [
        {
          owner: 'Acme',
          repo: 'Shop',
          kpis: KPIS.map((kpi) => ({
            kpi,
            currentValue: null,
            baselineValue: null,
            relativeDelta: null,
            currentSampleSize: 0,
            baselineSampleSize: 0,
            regressed: false,
            magnitude: 'low',
            direction: kpi === 'autonomy_rate' ? 'fall' : 'rise',
            history: [{ computedAt: NOW.toISOString(), value: null }],
          })),
        },
      ],
      polledAt: NOW.toISOString(),
    });
  });

  test('a repo that was disabled is left out', async () => {
    await sql`update repos set enabled = false`.execute(database.db);
    await kpis.refresh();
    expect(await read()).toEqual({ repos: [], polledAt: NOW.toISOString() });
  });

  test('it asks for credentials, and for a store', async () => {
    const { json } = await call('GET', '/api/regression-guard', { headers: {} });
    expect(json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
    const bare = await serveApp();
    const answer = await bare.call('GET', '/api/regression-guard');
    await bare.close();
    expect(answer.json).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
  });

  afterAll(() => database.clear());
});
