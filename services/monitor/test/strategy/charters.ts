import { afterAll, describe, expect, test } from '@jest/globals';
import { ensureTenant } from '@pipeline/store';
import { sql } from 'kysely';
import { serveApp } from '../support/served-app.ts';
import { database } from './database.ts';
import { BASE, ENVELOPE, refused, START, strategyOfShop } from './strategy-world.ts';

describe('the strategy of a repository', () => {
  const { call, get, putCharter, events } = strategyOfShop(database);
  const CHARTER = { goals: 'Fewer blocked issues', envelope: ENVELOPE };

  describe('charters', () => {
    test('there is none at first; each PUT is in force as the next version', async () => {
      expect(await get('/charter')).toEqual({ charter: null });
      expect((await putCharter(CHARTER)).json).toEqual({ ok: true, version: 1 });
      const envelope = { max_auto_size: 'epic', prefer: ['tests'], avoid: ['ui'], escalate_when: ['security'] };
      const second = await putCharter({ goals: 'Faster', envelope, author: 'anna', reason: 'it is slow' });
      expect(second.json).toEqual({ ok: true, version: 2 });
      expect(await get('/charter')).toEqual({
        charter: { version: 2, goals: 'Faster', envelope, author: 'anna', created_at: START.toISOString() },
      });
      const rows = await database.db
        .selectFrom('strategy_charters')
        .select(['version', 'author'])
        .orderBy('version')
        .execute();
      expect(rows).toEqual([
        { version: 1, author: 'operator' },
        { version: 2, author: 'anna' },
      ]);
      expect((await events('operator_action')).slice(-1)).toEqual([
        { action: 'strategy-charter', actorId: 'olga', reason: 'it is slow', version: 2, author: 'anna' },
      ]);
    });

    test('many at once get one version each', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => putCharter(CHARTER)));
      const versions = answers.map(({ json }) => (json as { version: number }).version);
      expect(versions.sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    });

    test.each([
      ['not JSON', '{"goals": ', 'INVALID_JSON', 'Invalid JSON body'],
      ['no goals', { envelope: ENVELOPE }, 'INVALID_BODY', 'goals is required'],
      ['goals that are no text', { goals: 3, envelope: ENVELOPE }, 'INVALID_BODY', /^goals: /],
      ['blank goals', { goals: '  ', envelope: ENVELOPE }, 'INVALID_BODY', 'goals: must not be blank'],
      ['goals before the envelope', { envelope: 3 }, 'INVALID_BODY', 'goals is required'],
      ['no envelope', { goals: 'x' }, 'INVALID_BODY', 'envelope is required'],
      [
        'another size',
        { goals: 'x', envelope: { ...ENVELOPE, max_auto_size: 'huge' } },
        'INVALID_BODY',
        /^envelope\.max_auto_size: /,
      ],
      [
        'no max_auto_size',
        { goals: 'x', envelope: { ...ENVELOPE, max_auto_size: undefined } },
        'INVALID_BODY',
        /^envelope\.max_auto_size/,
      ],
      [
        'no prefer',
        { goals: 'x', envelope: { ...ENVELOPE, prefer: undefined } },
        'INVALID_BODY',
        'envelope.prefer is required',
      ],
      [
        'avoid that is no list',
        { goals: 'x', envelope: { ...ENVELOPE, avoid: 'ui' } },
        'INVALID_BODY',
        /^envelope\.avoid: /,
      ],
      [
        'a name that is no text',
        { goals: 'x', envelope: { ...ENVELOPE, escalate_when: [1] } },
        'INVALID_BODY',
        /^envelope\.escalate_when\.0: /,
      ],
      [
        'a blank name',
        { goals: 'x', envelope: { ...ENVELOPE, prefer: [' '] } },
        'INVALID_BODY',
        'envelope.prefer.0: must not be blank',
      ],
      ['an unknown key', { goals: 'x', envelope: { ...ENVELOPE, autoApply: true } }, 'INVALID_BODY', /^envelope: /],
      ['an author that is no text', { ...CHARTER, author: 3 }, 'INVALID_BODY', /^author: /],
      ['text that cannot be kept', { ...CHARTER, goals: 'a\0b' }, 'INVALID_BODY', /^goals: must not contain NUL/],
      ['a list', [], 'INVALID_BODY', expect.any(String)],
    ])('refuses a charter with %s', async (_what, body, code, text) => {
      const answer = await putCharter(body);
      const message = text instanceof RegExp ? expect.stringMatching(text) : text;
      expect(refused(answer)).toEqual([400, code, message]);
      expect(await get('/charter')).toEqual({ charter: null });
    });

    test('may weigh a mebibyte and no more', async () => {
      const body = (goals: string) => JSON.stringify({ ...CHARTER, goals });
      const room = 1024 * 1024 - body('').length;
      expect((await putCharter(body('g'.repeat(room)))).status).toBe(200);
      expect(refused(await putCharter(body('g'.repeat(room + 1))))).toEqual([
        413,
        'PAYLOAD_TOO_LARGE',
        'Request body larger than 1048576 bytes',
      ]);
    });
  });

  describe('automation and run state', () => {
    const OFF = { enabled: false, cadence: 'weekly', lastProposedIsoWeek: null, nextProposalAt: null };

    test('both are empty at first', async () => {
      expect(await get('/automation')).toEqual({ automation: { ...OFF, updatedAt: null, updatedBy: null } });
      expect(await get('/run-state')).toEqual({ run: null });
    });

    test('turned on it is due at once, where there is a charter; turned off it is not due', async () => {
      const put = async (body: unknown) => (await call('PUT', `${BASE}/automation`, { body })).json;
      const on = { ...OFF, enabled: true, updatedAt: START.toISOString(), updatedBy: 'olga' };
      expect(await put({ enabled: true, reason: 'let us try' })).toEqual({ ok: true, automation: on });
      await putCharter(CHARTER);
      expect(await get('/automation')).toEqual({ automation: { ...on, nextProposalAt: START.toISOString() } });
      database.clock.now = new Date('2026-03-05T00:00:00.000Z');
      expect(await put({ enabled: true })).toMatchObject({ automation: { nextProposalAt: START.toISOString() } });
      expect(await put({ enabled: false })).toMatchObject({ automation: { enabled: false, nextProposalAt: null } });
      expect(
        (await events('operator_action')).filter(
          (each) => (each as { action: string }).action === 'strategy-automation',
        ),
      ).toEqual([
        { action: 'strategy-automation', actorId: 'olga', reason: 'let us try', enabled: true, was: false },
        { action: 'strategy-automation', actorId: 'olga', reason: null, enabled: true, was: true },
        { action: 'strategy-automation', actorId: 'olga', reason: null, enabled: false, was: true },
      ]);
    });

    test.each([
      ['{', 'INVALID_JSON', 'Invalid JSON body'],
      [{}, 'INVALID_BODY', 'Missing required boolean field: enabled'],
      [{ enabled: 'yes' }, 'INVALID_BODY', 'Missing required boolean field: enabled'],
      [{ enabled: true, reason: 3 }, 'INVALID_BODY', expect.stringMatching(/^reason: /)],
    ])('a toggle of %j is refused', async (body, code, text) => {
      expect(refused(await call('PUT', `${BASE}/automation`, { body }))).toEqual([400, code, text]);
    });
  });

  const EVERY: [string, string, unknown][] = [
    ['GET', '/snapshots', undefined],
    ['GET', '/snapshots/1', undefined],
    ['POST', '/snapshots/1/approve', {}],
    ['POST', '/snapshots/1/reject', {}],
    ['GET', '/charter', undefined],
    ['PUT', '/charter', CHARTER],
    ['GET', '/run-state', undefined],
    ['GET', '/automation', undefined],
    ['PUT', '/automation', { enabled: true }],
  ];

  describe('every route', () => {
    test.each(EVERY)('%s %s without a store: 503', async (method, path) => {
      const served = await serveApp();
      const answer = await served.call(method, `${BASE}${path}`);
      await served.close();
      expect(refused(answer)).toEqual([503, 'STORE_UNAVAILABLE', 'Pipeline store not available']);
    });

    test.each(EVERY)('%s %s without credentials: 401', async (method, path) => {
      const answer = await call(method, `${BASE}${path}`, { headers: {} });
      expect(refused(answer)).toEqual([401, 'AUTH_REQUIRED', expect.any(String)]);
    });

    test.each(EVERY)('%s %s of an unknown repo: 404', async (method, path, body) => {
      const answer = await call(method, `/api/strategy/acme/none${path}`, { body });
      expect(refused(answer)).toEqual([404, 'NOT_FOUND', 'Repo not found: acme/none']);
    });

    test.each(EVERY)('%s %s fails unexpectedly: 500 without internals', async (method, path, body) => {
      await sql`alter table repos rename to repos_away`.execute(database.db);
      try {
        const answer = await call(method, `${BASE}${path}`, { body });
        expect(refused(answer)).toEqual([500, 'INTERNAL_ERROR', 'Internal server error']);
      } finally {
        await sql`alter table repos_away rename to repos`.execute(database.db);
      }
    });
  });

  test('a repo of several tenants is named by its tenant', async () => {
    const other = await ensureTenant(database.store.db, 'other');
    await database.db
      .insertInto('repos')
      .values({
        tenant_id: other,
        owner: 'ACME',
        name: 'shop',
        slug_key: 'acme/shop',
        vcs_host: 'sandbox',
        clone_url: 'x',
        enabled: true,
      })
      .execute();
    expect(refused(await call('GET', `${BASE}/charter`))).toEqual([
      400,
      'INVALID_INPUT',
      'Several tenants have acme/shop: set the parameter tenant',
    ]);
    await call('PUT', `${BASE}/charter?tenant=other`, { body: CHARTER });
    expect(await get('/charter?tenant=default')).toEqual({ charter: null });
    expect(await get('/charter?tenant=other')).toMatchObject({ charter: { version: 1 } });
    await database.db.deleteFrom('strategy_charters').execute();
    await database.db.deleteFrom('strategy_automation').execute();
    await database.db.deleteFrom('repos').where('tenant_id', '=', other).execute();
  });

  afterAll(() => database.clear());
});
