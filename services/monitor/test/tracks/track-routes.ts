import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ensureTenant } from '@pipeline/store';
import { type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('tracks of a repository', () => {
  const REPO = 'Acme/Shop';
  const TRACK = '/api/tracks/acme/shop/tests';

  let bench: Bench;
  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    bench = await makeBench(database.store, REPO);
    ({ call, close } = await serveConnected({ engine: bench.engine }));
  });
  afterAll(() => close());
  beforeEach(async () => {
    for (const table of ['si_issues', 'track_prompts', 'tracks'] as const)
      await database.db.deleteFrom(table).execute();
  });

  const post = async (path: string, body?: unknown) => {
    const { status, json } = await call('POST', path, body === undefined ? {} : { body });
    return { status, body: json as Record<string, unknown> };
  };
  const create = (over: Record<string, unknown> = {}) => post('/api/tracks', { repo: REPO, name: 'tests', ...over });
  const tracks = async () => {
    const { json } = await call('GET', `/api/tracks?repo=${REPO}`);
    return (json as unknown as { tracks: Record<string, unknown>[] }).tracks;
  };
  const audit = async () =>
    (
      await database.db
        .selectFrom('pipeline_events')
        .select(['agent', 'payload'])
        .where('event_type', '=', 'operator_action')
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow()
    ).payload;
  const OK = { status: 200, body: { ok: true } };
  const refused = (status: number, code: string, error: string | RegExp) => ({
    status,
    body: { status, code, error: typeof error === 'string' ? error : expect.stringMatching(error) },
  });
  const NO_TRACK = refused(404, 'TRACK_NOT_FOUND', 'Track "tests" not found');
  const NO_JSON = refused(400, 'INVALID_JSON', 'Invalid JSON body');

  describe('GET /api/tracks', () => {
    const get = async (query: string) => {
      const { status, json } = await call('GET', `/api/tracks${query}`);
      return { status, body: json };
    };

    test('lists the tracks of a repo by name, however its name is spelled', async () => {
      await create({ name: 'zebra', label: 'z', cooldown_minutes: 5, enabled: false });
      await create();
      expect(await tracks()).toEqual([
        expect.objectContaining({ name: 'tests', label: '', cooldown_minutes: 60, enabled: true, active_version: 0 }),
        expect.objectContaining({ name: 'zebra', label: 'z', cooldown_minutes: 5, enabled: false, active_version: 0 }),
      ]);
      expect((await get('?repo=acme/SHOP')).body).toEqual({ tracks: await tracks() });
    });

    test.each(['', '?'])('a request without a query (%j) does not match this route', async (query) => {
      expect(await get(query)).toEqual(refused(404, 'NOT_FOUND', 'No matching route'));
    });

    test.each(['?repo=', '?repo=shop', '?repo=a/b/c', '?x=1', '?repo=a/b&repo=c/d', '?repo=%00/b'])(
      'refuses %s, which names no repo',
      async (query) => {
        expect(await get(query)).toEqual(refused(400, 'INVALID_INPUT', 'Missing or invalid repo query parameter'));
      },
    );

    test('answers 404 for an unknown repo', async () => {
      expect(await get('?repo=acme/other')).toEqual(refused(404, 'NOT_FOUND', 'Repo not found: acme/other'));
    });
  });

  describe('POST /api/tracks', () => {
    test('creates, updates, and records who did what and why', async () => {
      expect(await create({ reason: 'more tests' })).toEqual(OK);
      expect(await audit()).toEqual({
        action: 'track-create',
        actorId: 'olga',
        reason: 'more tests',
        track: 'tests',
        label: '',
        cooldown_minutes: 60,
        enabled: true,
        weight: 1,
      });
      expect(await create({ label: 'tests', cooldown_minutes: 7 })).toEqual(OK);
      expect(await audit()).toMatchObject({
        action: 'track-update',
        changes: [
          { field: 'label', from: '', to: 'tests' },
          { field: 'cooldown_minutes', from: 60, to: 7 },
        ],
      });
      expect(await tracks()).toMatchObject([{ label: 'tests', cooldown_minutes: 7 }]);
    });

    test.each([['{'], [''], ['undefined']])('the body %j is no JSON', async (body) => {
      expect(await post('/api/tracks', body)).toEqual(NO_JSON);
    });

    test.each([
      {},
      [],
      'text',
      null,
      { repo: REPO },
      { name: 'tests' },
      { repo: '', name: 'tests' },
      { repo: REPO, name: 5 },
    ])('the body %j lacks what is required', async (body) => {
      const missing = refused(400, 'INVALID_BODY', 'Missing required fields: repo, name');
      expect(await post('/api/tracks', JSON.stringify(body))).toEqual(missing);
    });

    test.each([
      [{ repo: 'shop' }, /^repo must be owner\/repo, got "shop"$/],
      [{ name: 'a/b' }, /^name: must be 1 to 100 characters/],
      [{ name: '  ' }, /^name: must be 1 to 100 characters/],
      [{ name: 'x'.repeat(101) }, /^name: /],
      [{ name: 'a\0' }, /^name: /],
      [{ label: 5 }, /^label: /],
      [{ label: 'x'.repeat(51) }, /^label: /],
      [{ cooldown_minutes: 0 }, /^cooldown_minutes: /],
      [{ cooldown_minutes: 1.5 }, /^cooldown_minutes: /],
      [{ cooldown_minutes: '60' }, /^cooldown_minutes: /],
      [{ cooldown_minutes: 3_000_000_000 }, /^cooldown_minutes: /],
      [{ enabled: 'yes' }, /^enabled: /],
    ])('%j is refused', async (over, error) => {
      expect(await create(over)).toEqual(refused(400, 'INVALID_BODY', error));
      expect(await tracks()).toEqual([]);
    });

    test('answers 404 for an unknown repo', async () => {
      expect(await create({ repo: 'acme/other' })).toEqual(refused(404, 'NOT_FOUND', 'Repo not found: acme/other'));
    });
  });

  describe('POST /api/tracks/:owner/:repo/:name', () => {
    beforeEach(() => create({ label: 'tests' }));

    test('changes what it names and nothing else; null clears the slate', async () => {
      const proposal = [{ size: 'small', count: 2, theme: 'flaky tests', label: 'flaky' }];
      const cadence = { kind: 'cron', expr: '0 3 * * 1' };
      expect(await post(TRACK, { proposal, cadence, weight: 2.5 })).toEqual(OK);
      expect(await tracks()).toMatchObject([{ label: 'tests', cooldown_minutes: 60, proposal, cadence, weight: 2.5 }]);
      expect(await post(TRACK, { proposal: null, cadence: { kind: 'cooldown' }, enabled: false })).toEqual(OK);
      expect(await tracks()).toMatchObject([
        { proposal: null, cadence: { kind: 'cooldown' }, weight: 2.5, enabled: false },
      ]);
      expect(await post(TRACK, {})).toEqual(OK);
    });

    test('the body is no JSON', async () => {
      expect(await post(TRACK, '{"weight":')).toEqual(NO_JSON);
      expect(await post(TRACK)).toEqual(NO_JSON);
    });

    test.each([
      [{ proposal: [] }, /^proposal: /],
      [{ proposal: {} }, /^proposal: /],
      [{ proposal: [{ size: 'tiny', count: 1 }] }, /^proposal\.0\.size: /],
      [{ proposal: [{ size: 'small' }] }, /^proposal\.0\.count is required$/],
      [{ proposal: [{ size: 'small', count: 0 }] }, /^proposal\.0\.count: /],
      [{ proposal: [{ size: 'small', count: 51 }] }, /^proposal\.0\.count: /],
      [{ proposal: [{ size: 'small', count: 1, colour: 'red' }] }, /^proposal\.0: knows no colour, but size, count/],
      [{ proposal: Array(11).fill({ size: 'small', count: 1 }) }, /^proposal: /],
      [{ cadence: 'daily' }, /^cadence: /],
      [{ cadence: { kind: 'hourly' } }, /^cadence\.kind: /],
      [{ cadence: { kind: 'cron' } }, /^cadence\.expr is required$/],
      [{ cadence: { kind: 'cron', expr: '61 * * * *' } }, /^cadence\.expr: .*minute/],
      [{ cadence: { kind: 'cron', expr: 'often' } }, /^cadence\.expr: expected minute, hour/],
      [{ cadence: { kind: 'cron', expr: '0 0 31 2 *' } }, /^cadence\.expr: "0 0 31 2 \*" never matches a time$/],
      [{ weight: -1 }, /^weight: /],
      [{ weight: '1' }, /^weight: /],
      [{ cooldown_minutes: 0 }, /^cooldown_minutes: /],
      [{ label: null }, /^label: /],
      [{ enabled: 1 }, /^enabled: /],
      [[], /expected object/],
    ])('%j is refused before the track is looked for', async (body, error) => {
      const before = await tracks();
      expect(await post(TRACK, body)).toEqual(refused(400, 'INVALID_BODY', error));
      expect(await post('/api/tracks/acme/shop/unknown', body)).toEqual(refused(400, 'INVALID_BODY', error));
      expect(await tracks()).toEqual(before);
    });

    test('an unknown track, or one in an unknown repo, is not found', async () => {
      expect(await post('/api/tracks/acme/shop/unknown', {})).toEqual(
        refused(404, 'TRACK_NOT_FOUND', 'Track "unknown" not found'),
      );
      expect(await post('/api/tracks/acme/other/tests', {})).toEqual(
        refused(404, 'TRACK_NOT_FOUND', 'Track "tests" not found: no repo acme/other is enabled'),
      );
      expect(await post('/api/tracks/acme/shop/%00', {})).toMatchObject({
        status: 404,
        body: { code: 'TRACK_NOT_FOUND' },
      });
    });

    test('a name with blanks and signs is reached by its encoded path', async () => {
      await create({ name: 'über ?#%' });
      expect(await post(`/api/tracks/acme/shop/${encodeURIComponent('über ?#%')}`, { weight: 4 })).toEqual(OK);
      expect((await tracks()).at(-1)).toMatchObject({ name: 'über ?#%', weight: 4 });
    });
  });

  describe('DELETE /api/tracks/:owner/:repo/:name', () => {
    const remove = async (path = TRACK) => {
      const { status, json } = await call('DELETE', path);
      return { status, body: json };
    };

    test('deletes, and answers alike when it is not there', async () => {
      await create();
      expect(await remove()).toEqual(OK);
      expect(await tracks()).toEqual([]);
      expect(await audit()).toMatchObject({ action: 'track-delete', track: 'tests', actorId: 'olga' });
      expect(await remove()).toEqual(OK);
      expect(await remove('/api/tracks/acme/other/tests')).toEqual(OK);
      expect(await remove('/api/tracks/acme/shop/%00')).toEqual(OK);
    });
  });

  describe('POST enable and disable', () => {
    test('switch a track and may be repeated', async () => {
      await create();
      for (const [action, enabled] of [
        ['disable', false],
        ['disable', false],
        ['enable', true],
      ] as const) {
        expect(await post(`${TRACK}/${action}`, { reason: 'a test' })).toEqual(OK);
        expect(await tracks()).toMatchObject([{ enabled }]);
      }
      expect(await audit()).toMatchObject({ action: 'track-enable', reason: 'a test' });
      expect(await post(`${TRACK}/enable`)).toEqual(OK);
    });

    test.each(['enable', 'disable'])('%s of an unknown track is not found', async (action) => {
      expect(await post(`${TRACK}/${action}`)).toEqual(NO_TRACK);
      expect(await post(`/api/tracks/no/repo/tests/${action}`)).toMatchObject({
        status: 404,
        body: { error: expect.stringMatching(/^Track "tests" not found/) },
      });
    });
  });

  describe('POST cooldown', () => {
    test('sets it', async () => {
      await create();
      expect(await post(`${TRACK}/cooldown`, { cooldown_minutes: 15 })).toEqual(OK);
      expect(await tracks()).toMatchObject([{ cooldown_minutes: 15 }]);
      expect(await audit()).toMatchObject({
        action: 'track-cooldown',
        changes: [{ field: 'cooldown_minutes', from: 60, to: 15 }],
      });
    });

    test('the body is no JSON, or holds no positive whole number', async () => {
      await create();
      expect(await post(`${TRACK}/cooldown`, 'ten')).toEqual(NO_JSON);
      for (const body of [{}, { cooldown_minutes: 0 }, { cooldown_minutes: -5 }, { cooldown_minutes: 2.5 }, [], null]) {
        expect(await post(`${TRACK}/cooldown`, JSON.stringify(body))).toMatchObject({
          status: 400,
          body: { code: 'INVALID_BODY' },
        });
      }
    });

    test('answers 404 for an unknown track', async () => {
      expect(await post(`${TRACK}/cooldown`, { cooldown_minutes: 5 })).toEqual(NO_TRACK);
    });
  });

  test('every route of tracks answers 503 without a store, but a list without a query is no route', async () => {
    const app = await serveApp();
    const unavailable = { status: 503, code: 'STORE_UNAVAILABLE', error: 'Pipeline store not available' };
    const routes: [string, string][] = [
      ['GET', '/api/tracks?repo=a/b'],
      ['GET', '/api/tracks?x'],
      ['POST', '/api/tracks'],
      ['POST', TRACK],
      ['DELETE', TRACK],
      ['POST', `${TRACK}/enable`],
      ['POST', `${TRACK}/disable`],
      ['POST', `${TRACK}/cooldown`],
      ['GET', `${TRACK}/prompts`],
      ['POST', `${TRACK}/prompts`],
      ['GET', `${TRACK}/prompts/1`],
      ['POST', `${TRACK}/prompts/1/activate`],
      ['GET', '/api/si-tracks'],
    ];
    try {
      for (const [method, path] of routes) expect((await app.call(method, path)).json).toEqual(unavailable);
      expect((await app.call('GET', '/api/tracks')).status).toBe(404);
    } finally {
      await app.close();
    }
  });

  test('strangers learn nothing', async () => {
    for (const path of ['/api/tracks', '/api/tracks?repo=acme/shop', '/api/si-tracks', '/pipeline/si-tracks', TRACK]) {
      const { json } = await call('GET', path, { headers: {} });
      expect(json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
    }
  });

  test('requires a tenant where two tenants have a repo of the name', async () => {
    await create();
    const other = await ensureTenant(database.store.db, 'other');
    const {
      id: _,
      tenant_id: __,
      ...values
    } = await database.db.selectFrom('repos').selectAll().where('id', '=', bench.repo.id).executeTakeFirstOrThrow();
    await database.db
      .insertInto('repos')
      .values({ ...values, compare: null, tenant_id: other })
      .execute();
    const many = refused(400, 'INVALID_INPUT', /set the parameter tenant$/);
    expect(await post(`${TRACK}/enable`)).toEqual(many);
    expect(await create()).toEqual(many);
    expect((await call('DELETE', TRACK)).status).toBe(400);
    expect((await call('GET', `/api/tracks?repo=${REPO}`)).status).toBe(400);
    expect(await post(`${TRACK}/enable?tenant=default`)).toEqual(OK);
    expect(await post(`${TRACK}/enable?tenant=other`)).toMatchObject({ status: 404 });
    expect((await call('GET', `/api/tracks?repo=${REPO}&tenant=other`)).json).toEqual({ tracks: [] });
    await database.db.deleteFrom('repos').where('tenant_id', '=', other).execute();
  });

  test.each(['/api/si-tracks', '/api/pipeline/si-tracks', '/pipeline/si-tracks'])(
    '%s lists the tracks of all repos',
    async (path) => {
      await create({ cooldown_minutes: 30, label: 'tests' });
      await create({ name: 'weekly' });
      await post('/api/tracks/acme/shop/weekly', { cadence: { kind: 'cron', expr: '0 3 * * 1' }, weight: 2 });
      const { json } = await call('GET', path);
      expect(json).toEqual({
        items: [
          {
            repo: REPO,
            tenant: 'default',
            name: 'tests',
            label: 'tests',
            enabled: true,
            cadenceKind: 'cooldown',
            cooldownMinutes: 30,
            cronExpr: null,
            lastRunAt: null,
            nextRunAt: expect.any(String),
            overdue: false,
            activeVersion: 0,
            weight: 1,
          },
          expect.objectContaining({
            name: 'weekly',
            cadenceKind: 'cron',
            cooldownMinutes: null,
            cronExpr: '0 3 * * 1',
            weight: 2,
          }),
        ],
        snapshot: true,
      });
    },
  );

  afterAll(() => database.clear());
});
