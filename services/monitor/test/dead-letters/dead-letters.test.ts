import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '@pipeline/runtime';
import type { StoreWatch } from '@pipeline/store';
import { findIssue, type Store } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  type DeadLetterCache,
  readDeadLetters,
  registerDeadLetterGauge,
} from '../../src/dead-letters/dead-letter-cache.ts';
import { ListCache, type Reading } from '../../src/polling/list-cache.ts';
import { addDeadLetter, type Bench, IMPOSSIBLE, makeBench } from '../support/bench.ts';
import { type Answer, type Call, serveApp, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
const POLLED = new Date('2026-01-02T03:04:05.678Z');
const UNKNOWN = '0198c5a4-7c1e-7000-8000-000000000001';

let bench: Bench;
let deadLetters: DeadLetterCache;
let storeWatch: StoreWatch;
let call: Call;
let close: () => Promise<void>;
let issue = 0;

async function serve(store: Store) {
  deadLetters = new ListCache(
    () => readDeadLetters(store.db),
    () => POLLED,
  );
  ({ call, close, storeWatch } = await serveConnected({ engine: { ...bench.engine, store }, deadLetters }));
}

beforeAll(async () => {
  bench = await makeBench(database.store, 'Acme/Shop');
});
beforeEach(() => serve(database.store));
afterEach(async () => {
  await close();
  await sql`delete from dead_letters`.execute(database.db);
});

const newDeadLetter = (cause?: Parameters<typeof addDeadLetter>[2]) => {
  issue += 1;
  return addDeadLetter(bench, issue, cause);
};
const list = async (query = '') => (await call('GET', `/api/dead-letters${query}`)).json as never as Listed;
interface Listed {
  items: { id: string; error: string; issueNumber: number }[];
  page: { total: number | null; limit: number; offset: number; hasMore: boolean };
  polledAt: string | null;
}
const stateOf = async (number: number) =>
  (await findIssue(database.store.db, bench.tenantId, bench.repo.id, number))?.state;
const idsOf = ({ items }: Listed) => items.map(({ id }) => id);

describe('list', () => {
  test('the list is empty and its total unknown before the first poll; afterwards both are real', async () => {
    await newDeadLetter();
    expect(await list()).toEqual({
      items: [],
      page: { total: null, limit: 100, offset: 0, hasMore: false },
      polledAt: null,
    });
    await deadLetters.refresh();
    const { items, page, polledAt } = await list();
    expect(polledAt).toBe(POLLED.toISOString());
    expect(page).toEqual({ total: 1, limit: 100, offset: 0, hasMore: false });
    expect(items[0]).toEqual({
      id: expect.any(String),
      repoOwner: 'Acme',
      repoName: 'Shop',
      issueNumber: issue,
      fromState: 'analyzing',
      targetState: 'planning',
      agentName: 'analyzer',
      error: `no edge for ${issue}`,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test('pages run newest first; limits are clamped, and what is no number is the default', async () => {
    const ids = [await newDeadLetter(), await newDeadLetter(), await newDeadLetter()].reverse();
    await deadLetters.refresh();
    expect(idsOf(await list())).toEqual(ids);
    const first = await list('?limit=2');
    expect([idsOf(first), first.page]).toEqual([ids.slice(0, 2), { total: 3, limit: 2, offset: 0, hasMore: true }]);
    const second = await list('?limit=2&offset=2');
    expect([idsOf(second), second.page]).toEqual([ids.slice(2), { total: 3, limit: 2, offset: 2, hasMore: false }]);
    for (const [query, limit, offset] of [
      ['?limit=0', 100, 0],
      ['?limit=-4', 100, 0],
      ['?limit=501', 500, 0],
      ['?limit=abc&offset=xyz', 100, 0],
      ['?limit=&offset=-1', 100, 0],
    ] as const)
      expect((await list(query)).page).toMatchObject({ limit, offset });
  });

  test('costs the store nothing', async () => {
    const statements: string[] = [];
    const store = database.open({ onStatement: (text) => statements.push(text) });
    await close();
    await serve(store);
    await deadLetters.refresh();
    statements.length = 0;
    await list();
    expect(statements).toEqual([]);
    await store.close();
  });

  test('an older read that ends late does not undo a newer one', async () => {
    const reads: ((total: number) => void)[] = [];
    const cache = new ListCache(
      () => new Promise<Reading<never>>((resolve) => reads.push((total) => resolve({ items: [], total }))),
      () => POLLED,
    );
    const both = [cache.refresh(), cache.refresh()];
    reads[1]?.(2);
    await both[1];
    reads[0]?.(1);
    await both[0];
    expect(cache.page({ limit: 1, offset: 0 }).page.total).toBe(2);
  });
});

describe('retry', () => {
  test('makes the transition, returns the new state and resolves the dead letter', async () => {
    const id = await newDeadLetter();
    await deadLetters.refresh();
    const answer = await call('POST', `/api/dead-letters/${id}/retry`);
    expect([answer.status, answer.json]).toEqual([200, { ok: true, newState: 'planning' }]);
    expect(await stateOf(issue)).toBe('planning');
    expect(idsOf(await list())).toEqual([]);
  });

  test('refused again: the dead letter stays, with the newest reason', async () => {
    const id = await newDeadLetter(IMPOSSIBLE);
    const answer = await call('POST', `/api/dead-letters/${id}/retry`);
    expect([answer.status, answer.json]).toEqual([200, { ok: true }]);
    const [deadLetter] = (await list()).items;
    expect(deadLetter?.id).toBe(id);
    expect(deadLetter?.error).not.toBe(`no edge for ${issue}`);
  });

  test('one of two concurrent retries wins, the other finds no dead letter', async () => {
    const id = await newDeadLetter();
    const answers = await Promise.all([1, 2].map(() => call('POST', `/api/dead-letters/${id}/retry`)));
    const byStatus = answers.sort((a, b) => a.status - b.status).map(({ status, json }) => [status, json]);
    expect(byStatus).toMatchObject([
      [200, { newState: 'planning' }],
      [404, { code: 'DEAD_LETTER_NOT_FOUND' }],
    ]);
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from transitions t join issues i using (tenant_id)
      where t.issue_id = i.id and i.issue_number = ${issue} and t.to_state = 'planning'`.execute(database.db);
    expect(rows[0]?.n).toBe(1);
  });

  test.each([UNKNOWN, 'no-uuid', '%00', 'x'.repeat(300)])('%s is not found', async (id) => {
    const answer = await call('POST', `/api/dead-letters/${id}/retry`);
    expect(answer.json).toMatchObject({ status: 404, code: 'DEAD_LETTER_NOT_FOUND' });
  });

  test('a resolved dead letter is not found', async () => {
    const id = await newDeadLetter();
    await call('POST', `/api/dead-letters/${id}/resolve`);
    expect((await call('POST', `/api/dead-letters/${id}/retry`)).json).toMatchObject({ status: 404 });
  });
});

describe('resolve', () => {
  test('resolves the dead letter in the name of the operator, and retries nothing', async () => {
    const id = await newDeadLetter();
    await deadLetters.refresh();
    expect((await call('POST', `/api/dead-letters/${id}/resolve`)).json).toEqual({ ok: true });
    expect(idsOf(await list())).toEqual([]);
    expect(await stateOf(issue)).toBe('analyzing');
    const row = await database.store.db
      .selectFrom('dead_letters')
      .selectAll()
      .where('tenant_id', '=', bench.tenantId)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ resolved_by: 'olga', resolution: 'resolved' });
    const event = await database.db
      .selectFrom('pipeline_events')
      .select(['agent', 'payload'])
      .where('tenant_id', '=', bench.tenantId)
      .where('event_type', '=', 'operator_action')
      .orderBy('id', 'desc')
      .executeTakeFirst();
    expect(event).toMatchObject({ agent: 'olga', payload: { action: 'dead-letter-resolve', actorId: 'olga' } });
  });

  test.each([UNKNOWN, 'no-uuid', '%00', 'x'.repeat(300)])('%s is no error, so repeating is safe', async (id) => {
    expect((await call('POST', `/api/dead-letters/${id}/resolve`)).json).toEqual({ ok: true });
  });
});

describe('resolve-all', () => {
  test('resolve-all is not an id: it resolves every cached dead letter and counts them', async () => {
    await newDeadLetter();
    await newDeadLetter();
    await deadLetters.refresh();
    expect((await call('POST', '/api/dead-letters/resolve-all')).json).toEqual({
      ok: true,
      resolved: 2,
      failed: [],
    });
    expect((await list()).page.total).toBe(0);
    expect((await call('POST', '/api/dead-letters/resolve-all')).json).toEqual({
      ok: true,
      resolved: 0,
      failed: [],
    });
  });

  test('one that fails stops no other and is named', async () => {
    const [first, second, third] = [await newDeadLetter(), await newDeadLetter(), await newDeadLetter()];
    await deadLetters.refresh();
    // A value that the server refuses, for the second dead letter only.
    await sql`
      alter table dead_letters add constraint refuse check (resolution is null or id <> ${sql.lit(second)})`.execute(
      database.db,
    );
    const answer = await call('POST', '/api/dead-letters/resolve-all');
    await sql`alter table dead_letters drop constraint refuse`.execute(database.db);
    expect(answer.json).toEqual({ ok: true, resolved: 3, failed: [second] });
    expect(idsOf(await list())).toEqual([second]);
    expect([first, third]).not.toContain(second);
  });
});

describe('failures', () => {
  test('an unexpected one is a 500 without internals', async () => {
    const id = await newDeadLetter();
    await sql`alter table dead_letters rename column resolution to resolution_gone`.execute(database.db);
    const answers = [
      await call('POST', `/api/dead-letters/${id}/resolve`),
      await call('POST', `/api/dead-letters/${id}/retry`),
    ];
    await sql`alter table dead_letters rename column resolution_gone to resolution`.execute(database.db);
    for (const { json } of answers) {
      expect(json).toEqual({ error: 'Internal server error', code: 'INTERNAL_ERROR', status: 500 });
    }
  });

  const everyRoute = (id: string) =>
    [
      ['GET', '/api/dead-letters'],
      ['POST', '/api/dead-letters/resolve-all'],
      ['POST', `/api/dead-letters/${id}/retry`],
      ['POST', `/api/dead-letters/${id}/resolve`],
    ] as const;

  test('a store that went away is a 503, for the call that meets it and, once looked at, for all', async () => {
    const id = await newDeadLetter();
    const store = database.open();
    await close();
    await serve(store);
    await deadLetters.refresh();
    await store.close();
    const unavailable = { status: 503, code: 'STORE_UNAVAILABLE', error: 'Pipeline store not available' };
    expect((await call('POST', `/api/dead-letters/${id}/retry`)).json).toEqual(unavailable);
    expect(await storeWatch.check()).toBe('unreachable');
    for (const [method, path] of everyRoute(id)) expect((await call(method, path)).json).toEqual(unavailable);
  });

  test('every route answers 503 without any store', async () => {
    const bare = await serveApp();
    const answers: Answer[] = [];
    for (const [method, path] of everyRoute(UNKNOWN)) answers.push(await bare.call(method, path));
    const alive = await bare.call('GET', '/health');
    await bare.close();
    for (const { json } of answers) expect(json).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
    expect(alive.json).toMatchObject({ status: 'healthy' });
  });
});

describe('metrics', () => {
  const { registry } = createMetrics();
  beforeAll(() => registerDeadLetterGauge(registry, { all: () => deadLetters.all() }));
  afterAll(() => registry.clear());

  test('count the unresolved dead letters of each repo', async () => {
    await newDeadLetter();
    await newDeadLetter();
    await deadLetters.refresh();
    expect(await registry.metrics()).toContain('svc_dead_letters_unresolved{repo="Acme/Shop"} 2');
    await call('POST', '/api/dead-letters/resolve-all');
    const text = await registry.metrics();
    expect(text).not.toContain('svc_dead_letters_unresolved{');
  });
});
