import { describe, expect, test } from '@jest/globals';
import { finding, workOn } from '../workers/agent-work.ts';
import { world } from './world.ts';

describe('what agents say is worth knowing', () => {
  test('a report of an agent is a candidate, with its subject and its evidence', async () => {
    await world.learn([{}]);
    const { items, page } = await world.list();
    expect(page).toEqual({ total: 1, limit: 200, offset: 0, hasMore: false });
    expect(items[0]).toMatchObject({
      tenantId: world.bench.tenantId,
      repoId: world.bench.repo.id,
      kind: 'invariant',
      title: 'Refunds are booked once',
      status: 'candidate',
      source: 'report',
      sourceAgent: 'analyzer',
      tags: ['ledger'],
      observationCount: 1,
      approvedAt: null,
      supersededBy: null,
    });
    expect(items[0]).not.toHaveProperty('scopes');
    expect(await world.detail(items[0]?.id ?? '')).toMatchObject({
      scopes: [{ scopeKind: 'file', scopeRef: 'src/refunds.ts', itemId: items[0]?.id }],
      evidence: [{ evidenceType: 'issue', ref: `#${world.number}` }],
    });
  });

  test('rises by being observed again', async () => {
    expect((await world.learnOne()).status).toBe('candidate');
    expect(await world.learnOne({ title: 'Refunds are booked once.' })).toMatchObject({
      status: 'observed',
      observationCount: 2,
    });
    expect(await world.learnOne()).toMatchObject({ status: 'proposed', observationCount: 3 });
    expect((await world.detail((await world.learnOne()).id)).evidence).toHaveLength(4);
    await world.stand('approved');
    expect(await world.learnOne()).toMatchObject({ status: 'approved', observationCount: 5 });
  });

  test('rises sooner when who reports it believes it', async () => {
    expect((await world.learnOne({ confidence: 0.9 })).status).toBe('candidate');
    expect((await world.learnOne({ confidence: 0.2 })).status).toBe('proposed');
  });

  test('and was dismissed by a person stays dismissed', async () => {
    const { id } = await world.learnOne();
    await world.move(id, 'dismiss', { reason: 'not so' });
    expect(await world.learnOne()).toMatchObject({ id, status: 'dismissed', observationCount: 2 });
  });

  test('follows from findings that come again', async () => {
    await world.admit();
    await workOn(world.bench, { findings: [finding()] });
    expect((await world.list()).items).toEqual([]);
    await world.admit();
    await workOn(world.bench, { findings: [finding()] });
    const [item] = (await world.list('&source=finding')).items;
    expect(item).toMatchObject({ kind: 'risk_area', status: 'observed', sourceFindingId: expect.any(String) });
    expect((await world.detail(item?.id ?? '')).scopes).toMatchObject([
      { scopeKind: 'file', scopeRef: 'src/refunds.ts' },
    ]);
  });
});

describe('the list', () => {
  test.each([
    ['kind=coupling', 'B'],
    ['status=proposed', 'B'],
    ['scope_kind=symbol', 'B'],
    ['scope_ref=bookRefund', 'B'],
    ['scope_kind=file&scope_ref=src/refunds.ts', 'A'],
    ['tag=MONEY', 'B'],
    ['min_confidence=0.6', 'B'],
    ['source=report&kind=invariant', 'A'],
    ['limit=1&offset=1', 'A'],
  ])('filters the list by %s', async (query, title) => {
    world.database.clock.now = new Date('2026-01-01T00:00:00Z');
    await world.learn([{ title: 'A' }]);
    world.database.clock.now = new Date('2026-01-02T00:00:00Z');
    const scopes = [{ kind: 'symbol' as const, ref: 'bookRefund' }];
    await world.learn([{ title: 'B', kind: 'coupling', confidence: 0.8, tags: ['Money'], scopes }], 2);
    expect((await world.list(`&${query}`)).items.map((item) => item.title)).toEqual([title]);
    expect((await world.list('&limit=9999')).page.limit).toBe(500);
  });

  test.each([
    '/api/intelligence',
    '/api/intelligence?repo=acme',
    '/api/intelligence?repo=acme/shop&kind=x',
    '/api/intelligence?repo=acme/shop&status=x',
    '/api/intelligence?repo=acme/shop&scope_kind=x',
    '/api/intelligence?repo=acme/shop&min_confidence=1.5',
    '/api/intelligence?repo=acme/shop&min_confidence=x',
    '/api/intelligence?repo=acme/shop&limit=x',
    '/api/intelligence/',
    '/api/intelligence/%20',
    '/api/intelligence/retrieve?repo=acme/shop',
    '/api/intelligence/retrieve?agent=developer',
    '/api/intelligence/retrieve?repo=acme/shop&agent=merger',
    '/api/intelligence/retrieve?repo=acme/shop&agent=planner&issue=x',
    '/api/intelligence/retrieve?repo=acme/shop&agent=planner&pr=0',
    '/api/intelligence/retrieve?repo=acme/shop&agent=planner&budget=-1',
  ])('%s is refused', async (path) => {
    const { status, json } = await world.call('GET', path);
    expect([status, json]).toEqual([400, { error: expect.any(String), code: 'INVALID_INPUT', status: 400 }]);
  });

  test.each(['/api/intelligence?repo=acme/none', '/api/intelligence/retrieve?repo=acme/none&agent=planner'])(
    '%s names an unknown repo',
    async (path) => {
      expect((await world.call('GET', path)).status).toBe(404);
    },
  );
});
