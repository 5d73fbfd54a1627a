import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { State } from '@pipeline/domain';
import { actOnIssue, type Engine, putRepo, transitionIssue } from '@pipeline/engine';
import { ensureTenant, inTransaction, type RepoRow, refreshIssueList, updateIssue } from '@pipeline/store';
import { sql } from 'kysely';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('the search of issues', () => {
  const START = Date.parse('2026-03-01T12:00:00.000Z');
  const OLGA = { type: 'operator', id: 'olga', reason: 'for the list' } as never;
  let shop: Bench;
  let call: Call;
  let close: () => Promise<void>;

  const repoOf = (engine: Engine, tenantId: number, owner: string, name: string): Promise<RepoRow> =>
    putRepo(engine, tenantId, {
      slug: { owner, name },
      vcsHost: 'sandbox',
      cloneUrl: '',
      defaultBranch: 'main',
      setupCommand: null,
      poolSize: null,
      installationId: null,
      enabled: true,
    });

  /** One after the other, so that the first stands longest. */
  let second = 0;
  async function enter(bench: Bench, number: number, title: string, state?: State): Promise<number> {
    second += 1;
    database.clock.now = new Date(START + second * 1_000);
    const issueId = await admit(bench, number);
    const { engine, tenantId } = bench;
    if (state === 'done') await actOnIssue(engine, { tenantId, issueId }, 'cancel', OLGA);
    else if (state) await transitionIssue(engine, { tenantId, issueId }, state, OLGA);
    await inTransaction(database.store.db, async (tx) => {
      await updateIssue(tx, tenantId, issueId, { title });
      await refreshIssueList(tx, tenantId, [issueId], false);
    });
    return issueId;
  }

  beforeAll(async () => {
    shop = await makeBench(database.store, 'Acme/Shop');
    const { engine, tenantId } = shop;
    const bench = async (tenant: number, owner: string, name: string): Promise<Bench> => {
      return { ...shop, tenantId: tenant, repo: await repoOf(engine, tenant, owner, name) };
    };
    const other = await ensureTenant(database.store.db, 'other');
    const [till, namesake] = [await bench(tenantId, 'acme', 'till'), await bench(other, 'acme', 'shop')];
    await enter(shop, 1, 'The checkout loses carts', 'planning');
    await enter(till, 7, 'Print 100% of the receipt', 'failure-blocked');
    await enter(shop, 7, 'Speed up the CHECKOUT', 'done');
    const paused = await enter(shop, 9, 'Upgrade the driver', 'failure-blocked');
    await actOnIssue(engine, { tenantId, issueId: paused }, 'pause', OLGA);
    await enter(namesake, 7, 'Same name, another tenant');
    const gone = await bench(tenantId, 'acme', 'gone');
    await enter(gone, 7, 'The checkout of a repo that is gone');
    await database.db.updateTable('repos').set({ enabled: false }).where('id', '=', gone.repo.id).execute();
    ({ call, close } = await serveConnected({ engine }));
  });
  afterAll(() => close());

  interface Found {
    items: {
      repo: string;
      tenant: string;
      issueNumber: number;
      attempt: number | null;
      maxAttempts: number | null;
      slaMinutes: number | null;
      unreportedCosts: number;
    }[];
    page: { total: number | null; limit: number; offset: number; hasMore: boolean };
  }
  const find = async (query = '') => (await call('GET', `/api/issues${query}`)).json as never as Found;
  const names = ({ items }: Found) => items.map(({ repo, issueNumber }) => `${repo}#${issueNumber}`);

  describe('GET /api/issues', () => {
    test('the open issues of all repos, those longest in their state first', async () => {
      const found = await find();
      expect(names(found)).toEqual(['Acme/Shop#1', 'acme/till#7', 'Acme/Shop#9', 'acme/shop#7']);
      expect(found.page).toEqual({ total: 4, limit: 100, offset: 0, hasMore: false });
      expect(found.items[1]).toMatchObject({
        repo: 'acme/till',
        tenant: 'default',
        issueNumber: 7,
        title: 'Print 100% of the receipt',
        state: 'failure-blocked',
        isBlocked: true,
        isPaused: false,
        labels: expect.any(Array),
        costUsd: 0,
      });
    });

    test('each issue has the limit of its state, the attempt of its task and its unreported costs', async () => {
      await database.db.updateTable('tasks').set({ attempt: 1 }).where('issue_number', '=', 1).execute();
      await database.db.updateTable('issues').set({ unreported_costs: 2 }).where('issue_number', '=', 9).execute();
      const facts = ({ items }: Found) =>
        items.map(({ attempt, maxAttempts, slaMinutes, unreportedCosts }) => [
          attempt,
          maxAttempts,
          slaMinutes,
          unreportedCosts,
        ]);
      expect(facts(await find('?repo=acme/shop&tenant=default&state=all'))).toEqual([
        [1, 3, 120, 0],
        [null, null, null, 0],
        [null, null, 60, 2],
      ]);
      // A limit of the workflow of the repo counts before the others; null there = not set.
      await sql`update workflow_snapshots set body = jsonb_set(body, '{states,2,warnAfterMinutes}', '7.5')
      where body #>> '{states,2,name}' = 'planning' and repo_id = ${shop.repo.id}`.execute(database.db);
      expect(facts(await find('?repo=acme/shop&tenant=default'))).toEqual([
        [1, 3, 7.5, 0],
        [null, null, 60, 2],
      ]);
    });

    test.each<[string[], string | null]>([
      [['success', 'pending', 'failure'], 'failure'],
      [['success', 'pending'], 'pending'],
      [['success', 'success'], 'success'],
      [[], null],
    ])('an issue whose open pull request has the checks %j is listed with %s', async (states, wanted) => {
      const { db } = database;
      const { id: repo_id, tenant_id } = shop.repo;
      const at = new Date(START).toISOString();
      const issueId = (
        await db
          .selectFrom('issues')
          .select('id')
          .where('repo_id', '=', repo_id)
          .where('issue_number', '=', 1)
          .executeTakeFirstOrThrow()
      ).id;
      const pull = {
        tenant_id,
        repo_id,
        issue_id: issueId,
        number: 70,
        url: '',
        title: '',
        body: '',
        head_ref: 'svc/issue-1',
        head_sha: 'abc',
        base_ref: 'main',
        state: 'open',
        agent_authored: true,
        opened_at: at,
        host_updated_at: at,
      };
      await db.deleteFrom('pull_requests').execute();
      await db.deleteFrom('commit_checks').execute();
      await db.insertInto('pull_requests').values(pull).execute();
      for (const [index, state] of states.entries()) {
        const check = {
          tenant_id,
          repo_id,
          sha: 'abc',
          kind: 'check-run',
          name: `c${index}`,
          state,
          host_id: 1,
          reported_at: at,
        };
        await db
          .insertInto('commit_checks')
          .values([check, { ...check, sha: 'older', state: 'failure' }])
          .execute();
      }
      await inTransaction(database.store.db, (tx) => refreshIssueList(tx, tenant_id, [issueId], false));
      const [found] = (await find('?q=1&repo=acme/shop&tenant=default')).items as unknown as Record<string, unknown>[];
      expect(found).toMatchObject({ issueNumber: 1, prNumber: 70, checks: wanted });
      await db.updateTable('pull_requests').set({ state: 'closed' }).execute();
      const [closed] = (await find('?q=1&repo=acme/shop&tenant=default')).items as unknown as Record<string, unknown>[];
      expect(closed).toMatchObject({ issueNumber: 1, checks: null });
    });

    test.each<[string, string[], number | null]>([
      ['?state=all', ['Acme/Shop#1', 'acme/till#7', 'Acme/Shop#7', 'Acme/Shop#9', 'acme/shop#7'], 5],
      ['?state=done', ['Acme/Shop#7'], 1],
      ['?state=failure-blocked', ['acme/till#7', 'Acme/Shop#9'], 2],
      ['?state=blocked', ['acme/till#7', 'Acme/Shop#9'], 2],
      ['?state=paused', ['Acme/Shop#9'], 1],
      ['?flag=paused&state=failure-blocked', ['Acme/Shop#9'], 1],
      ['?flag=paused&state=blocked', ['Acme/Shop#9'], 1],
      ['?flag=blocked&state=done', [], 0],
      ['?repo=ACME/till', ['acme/till#7'], 1],
      ['?repo=acme/shop&tenant=default', ['Acme/Shop#1', 'Acme/Shop#9'], 2],
      ['?repo=acme/shop&tenant=other&state=all', ['acme/shop#7'], 1],
      ['?tenant=other', ['acme/shop#7'], 1],
      ['?q=7', ['acme/till#7', 'Acme/Shop#7', 'acme/shop#7'], null],
      ['?q=%237&state=open', ['acme/till#7', 'acme/shop#7'], null],
      ['?q=checkout', ['Acme/Shop#1', 'Acme/Shop#7'], null],
      ['?q=checkout&state=open', ['Acme/Shop#1'], null],
      ['?q=Checkout&repo=acme/till', [], null],
      ['?q=100%25', ['acme/till#7'], null],
      ['?q=a%25e', [], null],
      ['?q=a_e', [], null],
      ['?q=%5C%5C%5C', [], null],
    ])('%s', async (query, expected, total) => {
      const found = await find(query);
      expect([names(found), found.page.total]).toEqual([expected, total]);
    });

    test('pages go on where the last one ended', async () => {
      const first = await find('?state=all&limit=2');
      expect([names(first), first.page]).toEqual([
        ['Acme/Shop#1', 'acme/till#7'],
        { total: 5, limit: 2, offset: 0, hasMore: true },
      ]);
      const last = await find('?state=all&limit=2&offset=4');
      expect([names(last), last.page]).toEqual([['acme/shop#7'], { total: 5, limit: 2, offset: 4, hasMore: false }]);
      const found = await find('?q=7&limit=2');
      expect([names(found).length, found.page]).toEqual([2, { total: null, limit: 2, offset: 0, hasMore: true }]);
    });

    test.each([
      ['?limit=0&offset=-1', { limit: 1, offset: 0 }],
      ['?limit=501', { limit: 500, offset: 0 }],
    ])('%s is clamped', async (query, page) => {
      expect((await find(query)).page).toMatchObject(page);
    });

    test.each([
      ['?limit=x', 'limit: must be a whole number'],
      ['?state=stuck', 'state: '],
      ['?flag=done', 'flag: '],
      ['?repo=acme', 'repo: must be owner/repo'],
      ['?q=ab', 'q: must be an issue number, or at least 3 characters of the title'],
      ['?q=%20a%20', 'q: must be an issue number, or at least 3 characters of the title'],
      ['?q=abc%00', 'q: must not contain NUL'],
      ['?repo=acme/shop', 'Several tenants have acme/shop'],
    ])('%s is refused', async (query, error) => {
      const { json } = await call('GET', `/api/issues${query}`);
      expect(json).toMatchObject({ status: 400, code: 'INVALID_INPUT', error: expect.stringContaining(error) });
    });

    test.each([
      ['?repo=acme/nowhere', 'Repo not found: acme/nowhere'],
      ['?repo=acme/gone', 'Repo not found: acme/gone'],
      ['?repo=acme/%00', 'Repo not found: '],
      ['?tenant=nobody', 'Tenant not found: nobody'],
    ])('%s is not found', async (query, error) => {
      const { json } = await call('GET', `/api/issues${query}`);
      expect(json).toMatchObject({ status: 404, code: 'NOT_FOUND', error: expect.stringContaining(error) });
    });

    test('needs credentials, and a store', async () => {
      expect((await call('GET', '/api/issues', { headers: {} })).json).toMatchObject({ code: 'AUTH_REQUIRED' });
      const bare = await serveApp();
      const { json } = await bare.call('GET', '/api/issues');
      await bare.close();
      expect(json).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
    });
  });

  afterAll(() => database.clear());
});
