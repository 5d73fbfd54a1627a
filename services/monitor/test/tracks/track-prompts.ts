import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('prompts of tracks', () => {
  const PROMPTS = '/api/tracks/acme/shop/tests/prompts';
  const UNKNOWN = '/api/tracks/acme/shop/unknown/prompts';

  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const { engine } = await makeBench(database.store, 'acme/shop');
    ({ call, close } = await serveConnected({ engine }));
  });
  afterAll(() => close());
  beforeEach(async () => {
    for (const table of ['track_prompts', 'tracks'] as const) await database.db.deleteFrom(table).execute();
    await call('POST', '/api/tracks', { body: { repo: 'acme/shop', name: 'tests' } });
  });

  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body === undefined ? {} : { body });
    return { status: answer.status, body: answer.json as Record<string, unknown> };
  };
  const refused = (status: number, code: string, error: string) => ({ status, body: { status, code, error } });
  const NO_TRACK = refused(404, 'TRACK_NOT_FOUND', 'Track "unknown" not found');
  const activeVersion = async () => {
    const { tracks } = (await ask('GET', '/api/tracks?repo=acme/shop')).body as {
      tracks: { active_version: number }[];
    };
    return tracks[0]?.active_version;
  };

  describe('GET prompts', () => {
    test('lists the versions, newest first', async () => {
      expect(await ask('GET', PROMPTS)).toEqual({ status: 200, body: { versions: [] } });
      await ask('POST', PROMPTS, { notes: 'first' });
      await ask('POST', PROMPTS, {});
      expect((await ask('GET', PROMPTS)).body).toEqual({
        versions: [
          { version: 2, created_at: expect.any(String), notes: '' },
          { version: 1, created_at: expect.any(String), notes: 'first' },
        ],
      });
    });

    test('answers 404 for an unknown track', async () => {
      expect(await ask('GET', UNKNOWN)).toEqual(NO_TRACK);
    });
  });

  describe('POST prompts', () => {
    test('adds a version, which is not active by that; what is left out is empty', async () => {
      expect(await ask('POST', PROMPTS, { seed_title: 'Test it', reason: 'needed' })).toEqual({
        status: 200,
        body: { version: 1 },
      });
      expect(await ask('GET', `${PROMPTS}/1`)).toEqual({
        status: 200,
        body: { prompt: { version: 1, seed_title: 'Test it', seed_body: '', instructions: '' } },
      });
      expect(await activeVersion()).toBe(0);
    });

    test.each(['{', '', 'text'])('the body %j is no JSON', async (body) => {
      expect(await ask('POST', PROMPTS, body)).toEqual(refused(400, 'INVALID_JSON', 'Invalid JSON body'));
    });

    test.each([
      { seed_title: 5 },
      { instructions: null },
      { notes: ['x'] },
      { seed_body: 'x'.repeat(60_001) },
      { notes: '\0' },
    ])('refuses a prompt that cannot be stored: %#', async (body) => {
      expect(await ask('POST', PROMPTS, body)).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
    });

    test('instructions may fill a body of 1 MiB, and no more', async () => {
      const around = JSON.stringify({ instructions: '' }).length;
      const instructions = 'x'.repeat(1024 * 1024 - around);
      expect(await ask('POST', PROMPTS, { instructions })).toMatchObject({ status: 200 });
      expect((await ask('GET', `${PROMPTS}/1`)).body).toMatchObject({ prompt: { instructions } });
      expect(await ask('POST', PROMPTS, { instructions: `${instructions}x` })).toMatchObject({
        status: 413,
        body: { code: 'PAYLOAD_TOO_LARGE' },
      });
    });

    test('answers 404 for an unknown track', async () => {
      expect(await ask('POST', UNKNOWN, {})).toEqual(NO_TRACK);
    });
  });

  describe('GET prompts/:version', () => {
    test.each(['1', '0', '-1', 'x', '01', '2147483648', '%00'])('version %s is not there', async (version) => {
      const said = `Version ${decodeURIComponent(version).replace('\0', '\ufffd')} not found`;
      expect(await ask('GET', `${PROMPTS}/${version}`)).toEqual(refused(404, 'NOT_FOUND', said));
    });

    test('an unknown track has no version', async () => {
      expect(await ask('GET', `${UNKNOWN}/1`)).toEqual(refused(404, 'NOT_FOUND', 'Version 1 not found'));
    });
  });

  describe('POST prompts/:version/activate', () => {
    test('activates a version, and reports from which to which', async () => {
      await ask('POST', PROMPTS, {});
      await ask('POST', PROMPTS, {});
      for (const version of [2, 1, 1]) {
        expect(await ask('POST', `${PROMPTS}/${version}/activate`, { reason: 'better' })).toMatchObject({
          status: 200,
        });
        expect(await activeVersion()).toBe(version);
      }
      const rows = await database.db
        .selectFrom('pipeline_events')
        .select('payload')
        .where('event_type', '=', 'operator_action')
        .orderBy('id', 'desc')
        .limit(2)
        .execute();
      expect(rows[1]?.payload).toEqual({
        action: 'track-prompt-activate',
        actorId: 'olga',
        reason: 'better',
        track: 'tests',
        from: 2,
        to: 1,
      });
    });

    test('answers 404 for an unknown version or track', async () => {
      expect(await ask('POST', `${PROMPTS}/1/activate`)).toEqual(refused(404, 'NOT_FOUND', 'Version 1 not found'));
      expect(await ask('POST', `${PROMPTS}/x/activate`)).toEqual(refused(404, 'NOT_FOUND', 'Version x not found'));
      expect(await ask('POST', `${UNKNOWN}/1/activate`)).toEqual(NO_TRACK);
    });
  });

  afterAll(() => database.clear());
});
