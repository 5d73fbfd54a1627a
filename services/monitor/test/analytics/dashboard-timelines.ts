import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { actOnIssue, putRepo, readCounts, readFigures, readLive } from '@pipeline/engine';
import { ensureTenant } from '@pipeline/store';
import { sql } from 'kysely';
import { Dashboard } from '../../src/analytics/dashboard.ts';
import { PolledValue } from '../../src/polling/polled-value.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp } from '../support/served-app.ts';
import { database } from './database.ts';

describe('timelines of the dashboard', () => {
  const START = Date.parse('2026-04-01T12:00:00.000Z');
  const now = () => database.clock.now ?? new Date();
  const at = (minutes: number) => {
    database.clock.now = new Date(START + minutes * 60_000);
  };
  const iso = (minutes: number) => new Date(START + minutes * 60_000).toISOString();

  let bench: Bench;
  let call: Call;
  let close: () => Promise<void>;
  let refresh: () => Promise<unknown>;
  const statements: string[] = [];

  beforeAll(async () => {
    at(0);
    bench = await makeBench(database.store, 'Acme/Shop');
  });
  beforeEach(async () => {
    at(0);
    await sql`truncate issues, issue_list, issue_events, transitions cascade`.execute(database.db);
    const store = database.open({ onStatement: (text) => statements.push(text) });
    const engine = { ...bench.engine, store, settings: () => DEFAULT_SETTINGS };
    const counts = new PolledValue(() => readCounts(engine), now);
    const live = new PolledValue(() => readLive(engine), now);
    const figures = new PolledValue(() => readFigures(engine), now);
    refresh = () => Promise.all([counts, live, figures].map((value) => value.refresh()));
    const dashboard = new Dashboard({
      counts,
      live,
      figures,
      now,
      agents: () => [],
      uptime: () => 1,
      isStoreConnected: () => true,
      isFresh: () => true,
    });
    const served = await serveApp({ dashboard, pipeline: { engine, storeWatch: { isConnected: true } as never } });
    call = served.call;
    close = async () => {
      await served.close();
      await store.close();
    };
  });
  afterEach(() => close());

  interface Timeline extends Record<string, unknown> {
    entries: { title: string; status: string | null; details: object | null }[];
    stateTransitions: { to: string }[];
  }
  const read = async (query = '') =>
    (await call('GET', `/dashboard${query}`)).json as never as { issueTimelines?: Record<string, Timeline> };
  const timelines = async (query = '') => (await read(query)).issueTimelines ?? {};

  const addEvents = (issueId: number, count: number, status = 'step ') =>
    sql`
  insert into issue_events (tenant_id, issue_id, actor_type, status, state, details, created_at)
  select ${bench.tenantId}, ${issueId}, 'agent', ${status} || n, 'analyzing',
    case when n % 2 = 0 then jsonb_build_object('log', repeat('y', 5000)) else '{"ok":true}' end,
    svc_now() + n * interval '1 ms'
  from generate_series(1, ${count}::int) n`.execute(database.db);

  test('gives the timelines of issues in flight by number, and none before the first poll', async () => {
    expect(await read()).not.toHaveProperty('issueTimelines');
    await admit(bench, 1);
    const done = await admit(bench, 2);
    await actOnIssue(bench.engine, { tenantId: bench.tenantId, issueId: done }, 'cancel', {
      type: 'operator',
      id: 'o',
    } as never);
    at(20);
    await refresh();
    const shown = await timelines();
    expect(Object.keys(shown)).toEqual(['1']);
    expect(shown[1]).toMatchObject({
      repo: 'Acme/Shop',
      issueNumber: 1,
      title: 'Issue 1',
      currentState: 'analyzing',
      isPaused: false,
      isBlocked: false,
      totalCostUsd: 0,
      totalDurationMs: 20 * 60_000,
      staleSinceMs: 20 * 60_000,
      serverTimestamp: iso(20),
      truncated: false,
      stateTransitions: [{ from: 'new', to: 'analyzing', at: iso(0) }],
    });
    statements.length = 0;
    await timelines('?timelines=50');
    expect(statements).toEqual([]);
  });

  test('gives the newest 20 entries of a large history with short texts', async () => {
    const issueId = await admit(bench, 1);
    await addEvents(issueId, 3_000, 'x'.repeat(3_000));
    await refresh();
    const { entries, truncated, stateTransitions } = (await timelines())[1] as Timeline;
    expect([entries.length, truncated, stateTransitions.length]).toEqual([20, true, 1]);
    expect(new Set(entries.map(({ status }) => status?.length))).toEqual(new Set([2_000]));
    expect(entries.slice(-2).map(({ details }) => details)).toEqual([{ ok: true }, null]);
  });

  test('gives at most the requested number: the issues that entered their state last', async () => {
    for (let number = 1; number <= 60; number += 1) {
      at(number);
      await admit(bench, number);
    }
    await refresh();
    const shown = async (query: string) => Object.keys(await timelines(query)).map(Number);
    expect(await shown('')).toEqual([51, 52, 53, 54, 55, 56, 57, 58, 59, 60]);
    expect(await shown('?timelines=2')).toEqual([59, 60]);
    expect(await shown('?timelines=9999')).toHaveLength(50);
    expect(await read('?timelines=0')).not.toHaveProperty('issueTimelines');
    expect((await call('GET', '/dashboard?timelines=all')).json).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
  });

  test('gives metrics unless the request declines them', async () => {
    await refresh();
    expect(await read()).toHaveProperty('metrics');
    expect(await read('?metrics=false')).not.toHaveProperty('metrics');
    expect(await read('?metrics=true')).toHaveProperty('metrics');
    expect((await call('GET', '/dashboard?metrics=no')).json).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
  });

  test('stays within 256 KiB when each timeline is large', async () => {
    for (let number = 1; number <= 50; number += 1) await addEvents(await admit(bench, number), 20, 'é'.repeat(2_000));
    await refresh();
    const shown = await timelines('?timelines=50');
    const bytes = Buffer.byteLength(JSON.stringify(shown));
    expect(bytes).toBeLessThan(256 * 1024);
    expect(Object.keys(shown).length).toBeGreaterThan(1);
  });

  test('gives an issue of another repo with the same number the key owner/repo#N', async () => {
    const other = await ensureTenant(database.store.db, 'other');
    const repo = await putRepo(bench.engine, other, {
      slug: { owner: 'acme', name: 'tools' },
      vcsHost: 'sandbox',
      cloneUrl: '',
      defaultBranch: 'main',
      setupCommand: null,
      poolSize: null,
      installationId: null,
      enabled: true,
    });
    await admit({ ...bench, tenantId: other, repo }, 7);
    at(1);
    await admit(bench, 7);
    await refresh();
    const shown = await timelines();
    expect(Object.entries(shown).map(([key, { repo: name }]) => [key, name])).toEqual([
      ['7', 'Acme/Shop'],
      ['acme/tools#7', 'acme/tools'],
    ]);
    await sql`update repos set enabled = false where id = ${repo.id}`.execute(database.db);
    await refresh();
    expect(Object.keys(await timelines())).toEqual(['7']);
  });

  afterAll(() => database.clear());
});
