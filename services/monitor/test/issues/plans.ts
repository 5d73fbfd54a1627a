/** Plans that need an approval, over HTTP. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findIssue, insertPlan, inTransaction, updateIssue } from '@pipeline/store';
import { admit } from '../support/bench.ts';
import { Shop } from '../support/shop.ts';
import { database } from './actions-database.ts';

describe('plans of an issue', () => {
  const bench = new Shop(database);
  const { call } = bench;
  let number = 0;

  beforeEach(async () => {
    number += 1;
    const issueId = await admit(bench, number);
    const origin = { version: 1, editsVersion: null, authorType: 'agent' as const, author: 'planner' };
    await inTransaction(database.store.db, async (tx) => {
      const plan = { plan: '# Steps', plan_version: 1, plan_status: 'pending' as const };
      await updateIssue(tx, bench.tenantId, issueId, { state: 'human-review-ready', ...plan });
      const key = { tenantId: bench.tenantId, issueId };
      await insertPlan(tx, key, { ...origin, body: '# Steps', plannedFiles: ['a.ts'] });
    });
  });

  const path = (rest: string) => `/api/issues/acme/shop/${number}/${rest}`;
  const approve = (body: unknown) => call('POST', path('plan/approve'), { body });
  const reject = (body: unknown) => call('POST', path('plan/reject'), { body });
  const issue = () => findIssue(database.db, bench.tenantId, bench.repo.id, number);

  describe('an answer to a plan', () => {
    test('approves an edited text and lists both versions when the request has a text', async () => {
      const answer = await approve({ version: 1, text: '# Better', plannedFiles: ['b.ts'], reason: 'clearer' });
      expect(answer.json).toEqual({ ok: true, version: 2, state: 'ready-for-dev' });
      expect(await issue()).toMatchObject({ plan: '# Better', planned_files: ['b.ts'], plan_status: 'approved' });
      const { items, page } = (await call('GET', path('plans?limit=20'))).json as { items: unknown[]; page: unknown };
      expect(items).toMatchObject([
        {
          version: 2,
          editsVersion: 1,
          authorType: 'operator',
          body: '# Better',
          status: 'approved',
          reason: 'clearer',
        },
        {
          version: 1,
          editsVersion: null,
          author: 'planner',
          body: '# Steps',
          plannedFiles: ['a.ts'],
          status: 'withdrawn',
        },
      ]);
      expect(page).toEqual({ total: null, limit: 20, offset: 0, hasMore: false });
    });

    test('returns the issue to planning when it is rejected', async () => {
      expect((await reject({ version: 1, reason: 'no tests' })).json).toEqual({
        ok: true,
        version: 1,
        state: 'planning',
      });
    });

    test('returns 409 when the version was answered or never existed', async () => {
      await reject({ version: 1, reason: 'no tests' });
      for (const [version, error] of [
        [1, 'Version 1 of the plan was already rejected'],
        [2, 'No version 2 of the plan waits for an approval'],
      ] as const) {
        expect((await approve({ version })).json).toEqual({ error, code: 'INVALID_TRANSITION', status: 409 });
      }
      expect((await issue())?.state).toBe('planning');
    });

    test('returns 409 when the issue is blocked meanwhile', async () => {
      const { id } = (await issue()) ?? { id: 0 };
      const blocked = { state: 'failure-blocked' as const, is_blocked: true };
      await updateIssue(database.db as never, bench.tenantId, id, blocked);
      const error = 'The issue is in failure-blocked: unblock it, then answer version 1';
      expect((await approve({ version: 1 })).json).toEqual({ error, code: 'INVALID_TRANSITION', status: 409 });
    });

    test.each([
      [approve, { version: 0 }, 'version must be a whole number from 1'],
      [approve, {}, 'version must be a whole number from 1'],
      [approve, { version: 1, text: ' ' }, 'text must not be blank and have at most 100000 characters'],
      [approve, { version: 1, text: 'x'.repeat(100_001) }, 'text must not be blank and have at most 100000 characters'],
      [approve, { version: 1, text: 'x', plannedFiles: [''] }, 'plannedFiles must be at most 1000 paths'],
      [reject, { version: 1 }, 'reason must be a non-blank string of at most 5000 characters without NUL'],
      [reject, { version: 1, reason: ' ' }, 'reason must be a non-blank string of at most 5000 characters without NUL'],
    ])('returns 400 when a field is missing or invalid (%#)', async (send, body, error) => {
      expect((await send(body)).json).toEqual({ error, code: 'INVALID_ARGUMENT', status: 400 });
      expect((await issue())?.state).toBe('human-review-ready');
    });

    test('returns 404 when the issue is unknown', async () => {
      const unknown = `/api/issues/acme/shop/99999`;
      for (const answer of [
        await call('GET', `${unknown}/plans`),
        await call('POST', `${unknown}/plan/approve`, { body: { version: 1 } }),
      ])
        expect(answer.json).toMatchObject({ status: 404, code: 'ISSUE_NOT_FOUND' });
    });
  });

  test('names the pending plan when a caller asks why', async () => {
    const why = (await call('GET', path('why'))).json;
    expect(why).toMatchObject({
      explanation: expect.stringContaining('waits for a person to approve version 1 of its plan'),
    });
  });

  afterAll(() => database.clear());
});
