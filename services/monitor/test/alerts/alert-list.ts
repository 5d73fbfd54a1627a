import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Alert } from '@pipeline/domain';
import { inTenant, raiseAlert, resolveAlert } from '@pipeline/engine';
import { ensureTenant } from '@pipeline/store';
import { engineOn } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('the list of alerts', () => {
  const START = Date.parse('2026-03-01T00:00:00Z');
  let call: Call;
  let close: () => Promise<void>;

  const RAISED = [
    {
      tenant: 'one',
      fingerprint: 'a',
      severity: 'critical',
      detector: 'queue_age',
      repo: 'Acme/Shop',
      issueNumber: null,
    },
    { tenant: 'one', fingerprint: 'b', severity: 'warning', detector: 'sla_breach', repo: 'acme/shop', issueNumber: 7 },
    { tenant: 'two', fingerprint: 'a', severity: 'warning', detector: 'queue_age', repo: 'acme/api', issueNumber: 7 },
    { tenant: 'two', fingerprint: 'over', severity: 'info', detector: 'queue_age', repo: null, issueNumber: null },
  ] as const;

  beforeAll(async () => {
    const engine = engineOn(database.store);
    for (const [index, { tenant, ...alert }] of RAISED.entries()) {
      database.clock.now = new Date(START + index * 1_000);
      const tenantId = await ensureTenant(database.store.db, tenant);
      await inTenant(engine, tenantId, (unit) =>
        raiseAlert(unit, { ...alert, message: `${tenant} ${alert.fingerprint}` }),
      );
      if (alert.fingerprint === 'over') await inTenant(engine, tenantId, (unit) => resolveAlert(unit, 'over'));
    }
    ({ call, close } = await serveConnected({ engine }));
  });
  afterAll(() => close());

  interface Listed {
    items: Alert[];
    page: object;
  }
  const list = async (query = '') => (await call('GET', `/api/alerts${query}`)).json as Listed;
  const messages = async (query: string) => (await list(query)).items.map(({ message }) => message);

  describe('GET /api/alerts', () => {
    test('lists what is open, seen last first', async () => {
      const { items, page } = await list();
      expect(page).toEqual({ total: 3, limit: 100, offset: 0, hasMore: false });
      expect(items.map(({ message }) => message)).toEqual(['two a', 'one b', 'one a']);
      expect(items[1]).toEqual({
        id: expect.any(String),
        severity: 'warning',
        detector: 'sla_breach',
        message: 'one b',
        fingerprint: 'b',
        repo: 'acme/shop',
        issueNumber: 7,
        workerId: null,
        value: null,
        threshold: null,
        firstSeenAt: '2026-03-01T00:00:01.000Z',
        lastSeenAt: '2026-03-01T00:00:01.000Z',
        count: 1,
        resolved: false,
        resolvedAt: null,
      });
    });

    test.each([
      ['?status=resolved', ['two over']],
      ['?status=all', ['two over', 'two a', 'one b', 'one a']],
      ['?severity=critical', ['one a']],
      ['?detector=queue_age', ['two a', 'one a']],
      ['?repo=ACME/shop', ['one b', 'one a']],
      ['?issue=7', ['two a', 'one b']],
      ['?tenant=two', ['two a']],
      ['?tenant=nobody', []],
      ['?repo=acme/shop&issue=7&severity=warning', ['one b']],
      ['?limit=1&offset=1', ['one b']],
      ['?limit=0', ['two a']],
    ])('%s lists %j', async (query, expected) => {
      expect(await messages(query)).toEqual(expected);
    });

    test.each([
      ['?status=closed', 'must be open, resolved or all'],
      ['?severity=bad', 'severity'],
      ['?detector=nothing', 'detector'],
      ['?repo=shop', 'must be owner/name'],
      ['?issue=x', 'issue'],
      ['?issue=0', 'issue'],
      ['?limit=x', 'limit'],
    ])('%s is refused with the reason', async (query, why) => {
      const answer = await call('GET', `/api/alerts${query}`);
      expect([answer.status, answer.json]).toMatchObject([
        400,
        { code: 'INVALID_INPUT', error: expect.stringContaining(why) },
      ]);
    });

    test('needs a store', async () => {
      const served = await serveApp();
      expect((await served.call('GET', '/api/alerts')).json).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
      await served.close();
    });
  });

  afterAll(() => database.clear());
});
