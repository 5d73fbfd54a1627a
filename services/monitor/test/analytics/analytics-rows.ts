import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('rows of figures', () => {
  const STATES = '/api/pipeline/state-timeseries';
  const EVENTS = '/api/pipeline-events';
  const BY_NAME = ['cost-summary', 'cost-by-model', 'attribution', 'weekly-reliability', 'retrospectives'];
  const ALL = [STATES, EVENTS, '/api/pipeline/cohort-funnel', '/api/pipeline/autonomy', '/api/pipeline/throughput'];
  let bench: Bench;
  let call: Call;
  let closers: (() => Promise<void>)[];

  beforeAll(async () => {
    database.clock.now = new Date('2026-03-05T12:00:30Z');
    bench = await makeBench(database.store, 'Acme/Shop');
    const connected = await serveConnected({ engine: bench.engine });
    ({ call } = connected);
    closers = [connected.close];
    await admit(bench, 1);
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  describe('every route', () => {
    const paths = [...ALL, ...BY_NAME.flatMap((name) => [`/api/pipeline/${name}`, `/pipeline/${name}`])];
    test('answers with nothing asked for, wants credentials, and the store', async () => {
      const without = await serveApp();
      closers.push(without.close);
      for (const path of paths) {
        expect([path, (await call('GET', path)).status]).toEqual([path, 200]);
        expect([path, (await call('GET', path, { headers: {} })).status]).toEqual([path, 401]);
        const away = await without.call('GET', path);
        expect([path, away.status, away.json]).toMatchObject([path, 503, { code: 'STORE_UNAVAILABLE' }]);
      }
    });

    test('answers the same under both names', async () => {
      for (const name of BY_NAME) {
        const [one, other] = await Promise.all([
          call('GET', `/api/pipeline/${name}`),
          call('GET', `/pipeline/${name}`),
        ]);
        expect(other.text).toBe(one.text);
      }
    });

    test('takes a repo in any case, and refuses what names none', async () => {
      for (const path of paths) {
        expect((await call('GET', `${path}?repo=acme/SHOP&tenant=default`)).status).toBe(200);
        expect((await call('GET', `${path}?repo=shop`)).json).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
        expect((await call('GET', `${path}?repo=acme/unknown`)).json).toMatchObject({ status: 404, code: 'NOT_FOUND' });
        expect((await call('GET', `${path}?tenant=nobody`)).json).toMatchObject({ status: 404, code: 'NOT_FOUND' });
      }
    });
  });

  test.each([
    `${STATES}?window=3h`,
    `${STATES}?buckets=many`,
    `${STATES}?buckets=1.5`,
    '/api/pipeline/cohort-funnel?window=30d',
    '/api/pipeline/autonomy?window=today',
    '/api/pipeline/throughput?since=yesterday',
    '/api/pipeline/cost-by-model?window=1y',
    '/api/pipeline/attribution?window=',
    `${EVENTS}?issue=seven`,
    `${EVENTS}?issue=1.5`,
    `${EVENTS}?issue=99999999999`,
  ])('%s is refused', async (path) => {
    expect((await call('GET', path)).json).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
  });

  test.each([
    ['', 48],
    ['?buckets=0', 1],
    ['?buckets=-3', 1],
    ['?buckets=169', 168],
    ['?buckets=12', 12],
  ])('buckets%s: %i of them', async (query, count) => {
    const { buckets, window } = (await call('GET', STATES + query)).json as {
      buckets: { ts: string }[];
      window: string;
    };
    expect(buckets).toHaveLength(count);
    expect([window, buckets.at(-1)?.ts]).toEqual(['24h', '2026-03-05T12:00:30.000Z']);
  });

  test.each([
    ['', 50, 0],
    ['?limit=abc&offset=xyz', 50, 0],
    ['?limit=201', 200, 0],
    ['?limit=0&offset=-1', 50, 0],
    ['?limit=2&offset=1', 2, 1],
  ])('events%s: limit %i, offset %i', async (query, limit, offset) => {
    const { page } = (await call('GET', EVENTS + query)).json as { page: { total: number } };
    expect(page).toMatchObject({ limit, offset });
    expect(page.total).toBeGreaterThanOrEqual(2);
  });

  afterAll(() => database.clear());
});
