import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ensureTenant, findIssue } from '@pipeline/store';
import { sql } from 'kysely';
import { admit, makeBench } from '../support/bench.ts';
import { serveApp } from '../support/served-app.ts';
import { Shop } from '../support/shop.ts';
import { database } from './actions-database.ts';

describe('actions on an issue', () => {
  const bench = new Shop(database);
  const { call } = bench;
  let number = 0;

  let issueId = 0;
  beforeEach(async () => {
    number += 1;
    issueId = await admit(bench, number);
  });

  const post = (action: string, body?: unknown, path = `acme/shop/${number}`) =>
    call('POST', `/api/issues/${path}/${action}`, { body });
  const issue = async () => {
    const row = await findIssue(database.db, bench.tenantId, bench.repo.id, number);
    if (!row) throw new Error('no issue');
    return row;
  };

  describe('errors of the actions, in the order in which they are looked for', () => {
    const BAD_REASON = 'reason must be a non-blank string of at most 5000 characters without NUL';
    const good = { targetState: 'planning', reason: 'why' };

    test.each([
      ['a body that is no JSON', '{', 400, 'INVALID_JSON', 'Invalid JSON body'],
      ['no targetState', { reason: 'why' }, 400, 'INVALID_STATE', 'targetState must be a string'],
      [
        'a targetState that is no string',
        { ...good, targetState: 7 },
        400,
        'INVALID_STATE',
        'targetState must be a string',
      ],
      ['no reason', { targetState: 'planning' }, 400, 'INVALID_ARGUMENT', BAD_REASON],
      ['a blank reason', { ...good, reason: ' \n' }, 400, 'INVALID_ARGUMENT', BAD_REASON],
      ['a reason that is too long', { ...good, reason: 'x'.repeat(5_001) }, 400, 'INVALID_ARGUMENT', BAD_REASON],
      ['a reason that cannot be kept', { ...good, reason: 'a\0b' }, 400, 'INVALID_ARGUMENT', BAD_REASON],
      ['a reason that is no string', { ...good, reason: 7 }, 400, 'INVALID_ARGUMENT', BAD_REASON],
      ['neither', {}, 400, 'INVALID_STATE', 'targetState must be a string'],
    ])('transition with %s', async (_what, body, ...refusal) => {
      // Fields come before the repo: an unknown one is not looked at.
      const answer = await post('transition', body, 'no/such/1');
      const [status, code, error] = refusal;
      expect(answer.json).toEqual({ error, code, status });
    });

    test('a target that is no outgoing edge: the message lists the valid ones', async () => {
      const answer = await post('transition', { ...good, targetState: 'merge-pending' });
      expect(answer.json).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
      expect((answer.json as { error: string }).error).toContain(
        'planning, waiting-for-subtasks, dependency-blocked, failure-blocked, needs-clarification, done',
      );
    });

    test('a repo without an active workflow', async () => {
      await database.db.updateTable('workflow_snapshots').set({ active: false }).execute();
      const answers = [
        await post('transition', good),
        await call('GET', `/api/issues/acme/shop/${number}/valid-transitions`),
      ];
      await database.db.updateTable('workflow_snapshots').set({ active: true }).execute();
      for (const answer of answers) expect(answer.json).toMatchObject({ status: 400, code: 'WORKFLOW_UNAVAILABLE' });
    });

    test.each([
      ['an unknown repo', 'no/such/1', 'NOT_FOUND', 'Repo not found: no/such'],
      ['an unknown issue', 'acme/shop/99999', 'ISSUE_NOT_FOUND', 'Issue not found: Acme/Shop#99999'],
      ['an issue that is no number', 'acme/shop/first', 'NOT_FOUND', 'Not found'],
      ['an issue beyond every number', 'acme/shop/4294967296', 'NOT_FOUND', 'Not found'],
      ['issue zero', 'acme/shop/0', 'NOT_FOUND', 'Not found'],
      ['a segment too many', 'acme/shop/1/2', 'NOT_FOUND', 'Not found'],
      ['a segment too few', 'acme/1', 'NOT_FOUND', 'Not found'],
      ['an escape that is none', 'acme/shop/%ZZ', 'NOT_FOUND', 'Not found'],
      ['an impossible name of a tenant', 'acme/shop/1/pause?tenant=%00&', 'NOT_FOUND', 'Repo not found: acme/shop'],
    ])('%s', async (_what, path, code, error) => {
      const refusal = { error, code, status: 404 };
      const [before, query = ''] = path.split('/pause');
      for (const action of ['pause', 'resume', 'unblock', 'retry', 'cancel'])
        expect((await call('POST', `/api/issues/${before}/${action}${query}`)).json).toEqual(refusal);
      const body = { targetState: 'planning', reason: 'why' };
      expect((await call('POST', `/api/issues/${before}/transition${query}`, { body })).json).toEqual(refusal);
      expect((await call('GET', `/api/issues/${before}/valid-transitions${query}`)).json).toMatchObject({
        code,
        status: 404,
      });
    });

    test.each(['pause', 'resume', 'unblock', 'retry', 'cancel'])(
      '%s with a body that holds no reason',
      async (action) => {
        for (const [body, error, code] of [
          ['{', 'Invalid JSON body', 'INVALID_JSON'],
          [{ reason: 7 }, 'reason: Invalid input: expected string, received number', 'INVALID_BODY'],
          [{ reason: 'a\0b' }, 'reason: must not contain NUL or unpaired surrogates', 'INVALID_BODY'],
        ] as const)
          expect((await post(action, body)).json).toEqual({ error, code, status: 400 });
      },
    );

    const ALL = ['pause', 'resume', 'unblock', 'retry', 'cancel', 'transition'];

    test.each(ALL)('%s without a store is 503, which comes after the path and before the body', async (action) => {
      const bare = await serveApp();
      const answer = await bare.call('POST', `/api/issues/acme/shop/1/${action}`, { body: '{' });
      const malformed = await bare.call('POST', `/api/issues/acme/shop/one/${action}`, { body: '{' });
      await bare.close();
      const unavailable = { error: 'Pipeline store not available', code: 'STORE_UNAVAILABLE', status: 503 };
      expect(answer.json).toEqual(unavailable);
      expect(malformed.json).toEqual({ error: 'Not found', code: 'NOT_FOUND', status: 404 });
    });

    test.each(ALL)('%s that fails unexpectedly is a 500 without internals', async (action) => {
      await sql`alter table issue_events rename to issue_events_gone`.execute(database.db);
      const answer = await post(action, good);
      await sql`alter table issue_events_gone rename to issue_events`.execute(database.db);
      expect(answer.json).toEqual({ error: 'Internal server error', code: 'INTERNAL_ERROR', status: 500 });
      expect((await issue()).state).toBe('analyzing');
    });

    test('an action that does not exist', async () => {
      expect((await post('explode')).json).toEqual({ error: 'Not found', code: 'NOT_FOUND', status: 404 });
    });

    test('a slug that two tenants have asks for the tenant', async () => {
      const other = await makeBench(database.store, 'other/shop');
      await admit(other, 1);
      const tenantId = await ensureTenant(database.db, 'second');
      const { id: _id, ...copy } = other.repo;
      await database.db
        .insertInto('repos')
        .values({ ...copy, compare: null, tenant_id: tenantId })
        .execute();
      expect((await post('pause', undefined, 'other/shop/1')).json).toMatchObject({
        status: 400,
        code: 'INVALID_INPUT',
        error: expect.stringContaining('tenant'),
      });
      expect((await call('POST', '/api/issues/other/shop/1/pause?tenant=default')).status).toBe(200);
      expect((await call('POST', '/api/issues/other/shop/1/pause?tenant=nobody')).status).toBe(404);
    });
  });

  describe('valid-transitions', () => {
    test('lists every outgoing edge of the state', async () => {
      const answer = await call('GET', `/api/issues/ACME/shop/${number}/valid-transitions`);
      expect(answer.json).toEqual({
        currentState: 'analyzing',
        validTargets: [
          'planning',
          'waiting-for-subtasks',
          'dependency-blocked',
          'failure-blocked',
          'needs-clarification',
          'done',
        ],
      });
    });

    test('a done issue may be sent to new, from where it goes on by itself and is reopened on the host', async () => {
      await post('cancel');
      expect((await post('transition', { targetState: 'new', reason: 'again' })).json).toEqual({
        ok: true,
        from: 'done',
        to: 'new',
      });
      expect((await issue()).state).toBe('analyzing');
      const asked = await database.db
        .selectFrom('projections')
        .select('action')
        .where('issue_id', '=', issueId)
        .execute();
      expect(asked.map(({ action }) => (action as unknown as { type: string }).type)).toContain('reopenIssue');
    });
  });

  afterAll(() => database.clear());
});
