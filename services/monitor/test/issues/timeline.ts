import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { actOnIssue, fail, progress } from '@pipeline/engine';
import { sql } from 'kysely';
import { admit } from '../support/bench.ts';
import { serveApp } from '../support/served-app.ts';
import { Shop } from '../support/shop.ts';
import { claimWork } from '../workers/agent-work.ts';
import { database } from './database.ts';

describe('the timeline of an issue', () => {
  const bench = new Shop(database);
  const { call } = bench;
  const START = Date.parse('2026-03-01T12:00:00.000Z');
  const MINUTE = 60;
  let number = 0;
  let issueId = 0;

  const at = (seconds: number) => {
    database.clock.now = new Date(START + seconds * 1_000);
  };
  const iso = (seconds: number) => new Date(START + seconds * 1_000).toISOString();

  beforeEach(async () => {
    at(0);
    number += 1;
    issueId = await admit(bench, number);
  });

  const get = (issue: number | string = number, slug = 'acme/shop') => call('GET', `/api/timeline/${slug}/${issue}`);
  interface Timeline {
    entries: { kind: string; timestamp: string; title: string }[];
    totalEntries: number;
    stateTransitions: { to: string }[];
    staleSinceMs?: number;
  }
  const timeline = async () => (await get()).json as never as Timeline;

  /** A run that spoke and failed, and an operator who paused the issue. */
  async function live(): Promise<void> {
    const { engine, tenantId } = bench;
    await sql`update tasks set held = 'quota' where issue_id <> ${issueId}`.execute(database.db);
    const ref = await claimWork(bench, `w${number}`);
    at(10);
    await progress(engine, ref, { status: 'reading the tests', details: null, invocations: [] });
    at(20);
    const call = {
      model: 'large',
      provider: 'p',
      inputTokens: 500_000,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    };
    const invocations = [{ index: 0, ...call, turns: 1, costUsd: 0.5, stopReason: 'error' as const }];
    await fail(engine, ref, { errorMessage: 'the host answered 502', errorClass: 'transient', invocations });
    at(30);
    await actOnIssue(engine, { tenantId, issueId }, 'pause', { type: 'operator', id: 'olga', reason: null } as never);
  }

  describe('GET /api/timeline', () => {
    test('lists all that happened, oldest first, with cost and duration', async () => {
      await live();
      const { json } = await get();
      const story = json as never as Timeline;
      expect(json).toMatchObject({
        repo: 'Acme/Shop',
        issueNumber: number,
        title: `Issue ${number}`,
        currentState: 'analyzing',
        isPaused: true,
        isBlocked: false,
        totalCostUsd: 0.5,
        totalDurationMs: 30_000,
        serverTimestamp: iso(30),
        stateTransitions: [{ from: 'new', to: 'analyzing', at: iso(0), forced: false }],
        totalEntries: story.entries.length,
      });
      const times = story.entries.map(({ timestamp }) => timestamp);
      expect(times).toEqual([...times].sort());
      const kinds = new Set(story.entries.map(({ kind }) => kind));
      expect([...kinds].sort()).toEqual(['agent-run', 'event', 'operator-action', 'projection', 'transition']);
      expect(story.entries.find(({ kind }) => kind === 'agent-run')).toMatchObject({
        timestamp: iso(0),
        agent: 'analyzer',
        costUsd: 0.5,
        durationMs: 20_000,
        error: 'the host answered 502',
      });
    });

    test('an issue is stale when nothing has happened for as long as work may stall, and never when it is done', async () => {
      at(14 * MINUTE);
      expect(await timeline()).not.toHaveProperty('staleSinceMs');
      at(15 * MINUTE);
      expect((await timeline()).staleSinceMs).toBe(15 * MINUTE * 1_000);
      await actOnIssue(bench.engine, { tenantId: bench.tenantId, issueId }, 'cancel', {
        type: 'operator',
        id: 'olga',
      } as never);
      at(60 * MINUTE);
      expect(await timeline()).not.toHaveProperty('staleSinceMs');
    });

    test('returns the newest part of a very long history', async () => {
      await sql`
      insert into issue_events (tenant_id, issue_id, actor_type, status, state, created_at)
      select ${bench.tenantId}, ${issueId}, 'agent', 'step ' || n, 'analyzing', ${iso(1)}::timestamptz + n * interval '1 s'
      from generate_series(1, 5100) n`.execute(database.db);
      await sql`
      insert into transitions (tenant_id, repo_id, issue_id, from_state, to_state, trigger, actor_type, at,
        admitted_at, is_first)
      select ${bench.tenantId}, ${bench.repo.id}, ${issueId}, 'analyzing', case when n = 1100 then 'planning' else 'analyzing' end,
        'operator', 'operator', ${iso(0)}, ${iso(0)}, false
      from generate_series(1, 1100) n`.execute(database.db);
      const { entries, totalEntries, stateTransitions } = await timeline();
      expect(entries).toHaveLength(5_000);
      expect(totalEntries).toBeGreaterThanOrEqual(6_200);
      expect(entries.at(-1)?.title).toBe('step 5100');
      expect([stateTransitions.length, stateTransitions.at(-1)?.to]).toEqual([1_000, 'planning']);
    });

    test('an unknown issue is not found', async () => {
      expect((await get(99_999)).json).toEqual({
        error: 'Issue not found: Acme/Shop#99999',
        code: 'ISSUE_NOT_FOUND',
        status: 404,
      });
    });

    test.each(['/api/timeline/acme/7', '/api/timeline/acme/shop/7/8', '/api/timeline/7', '/api/timeline/acme/%E0/7'])(
      '%s is malformed',
      async (path) => {
        expect((await call('GET', path)).json).toEqual({
          error: 'Expected /api/timeline/:owner/:repo/:issue',
          code: 'INVALID_INPUT',
          status: 400,
        });
      },
    );

    test.each(['0', '-1', 'x', '1.5', '07', '99999999999'])('issue %s is no number', async (issue) => {
      expect((await get(issue)).json).toEqual({
        error: 'Invalid issue number',
        code: 'INVALID_ISSUE_NUMBER',
        status: 400,
      });
    });

    test.each(['nobody/shop', 'acme/%00'])('there is no context of %s', async (slug) => {
      const { json } = await get(7, slug);
      expect(json).toEqual({
        error: `No repo context available for ${decodeURIComponent(slug).replace('\0', '\ufffd')}`,
        code: 'STORE_UNAVAILABLE',
        status: 503,
      });
    });

    test('returns no timeline of any repo without a store, and refuses a bad number before that', async () => {
      const bare = await serveApp();
      const answers = [
        await bare.call('GET', '/api/timeline/acme/shop/7'),
        await bare.call('GET', '/api/timeline/a/b/x'),
      ];
      await bare.close();
      expect(answers.map(({ json }) => json)).toEqual([
        { error: 'No repo context available for acme/shop', code: 'STORE_UNAVAILABLE', status: 503 },
        { error: 'Invalid issue number', code: 'INVALID_ISSUE_NUMBER', status: 400 },
      ]);
    });

    test('an unexpected failure names what failed and no more', async () => {
      await sql`alter table issues rename column title to title_gone`.execute(database.db);
      const { json } = await get();
      await sql`alter table issues rename column title_gone to title`.execute(database.db);
      expect(json).toEqual({ error: 'Failed to build timeline', code: 'INTERNAL_ERROR', status: 500 });
    });

    test('needs credentials', async () => {
      const answer = await call('GET', `/api/timeline/acme/shop/${number}`, { headers: {} });
      expect(answer.json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
    });
  });

  afterAll(() => database.clear());
});
