import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { putRepo } from '@pipeline/engine';
import { ensureTenant } from '@pipeline/store';
import { sql } from 'kysely';
import { admit } from '../support/bench.ts';
import { serveApp } from '../support/served-app.ts';
import { Shop } from '../support/shop.ts';
import { database } from './database.ts';

describe('paths of an issue', () => {
  const bench = new Shop(database);
  const { call } = bench;
  let number = 0;

  beforeEach(async () => {
    number += 1;
    await admit(bench, number);
  });

  const get = (suffix: string, issue: number | string = number) =>
    call('GET', `/api/issues/acme/shop/${issue}/${suffix}`);

  const SUFFIXES = ['why', 'digest', 'status', 'events', 'retrospective', 'artefacts'];
  const NOT_FOUND = { error: 'Not found', code: 'NOT_FOUND', status: 404 };
  const malformed = (suffix: string) =>
    ['retrospective', 'artefacts'].includes(suffix)
      ? { error: `Expected /api/issues/:owner/:repo/:issue/${suffix}`, code: 'INVALID_INPUT', status: 400 }
      : NOT_FOUND;
  const badNumber = (suffix: string) =>
    ['retrospective', 'artefacts'].includes(suffix)
      ? { error: 'Invalid issue number', code: 'INVALID_ISSUE_NUMBER', status: 400 }
      : NOT_FOUND;

  describe.each(SUFFIXES)('paths of %s', (suffix) => {
    test.each(['/api/issues/acme/7', '/api/issues/acme/shop/7/8', '/api/issues/7', '/api/issues/acme/%E0/7'])(
      'rejects the malformed path %s/…',
      async (path) => {
        expect((await call('GET', `${path}/${suffix}`)).json).toEqual(malformed(suffix));
      },
    );

    test.each(['0', '-1', 'x', '1.5', '07', '%31x', '99999999999'])('rejects the issue number %s', async (issue) => {
      expect((await get(suffix, issue)).json).toEqual(badNumber(suffix));
    });

    test('compares slugs case-insensitively', async () => {
      expect((await call('GET', `/api/issues/ACME/shop/${number}/${suffix}`)).status).toBe(200);
    });

    test('returns 404 for another method', async () => {
      const { json } = await call('DELETE', `/api/issues/acme/shop/${number}/${suffix}`);
      expect(json).toEqual({ error: 'No matching route', code: 'NOT_FOUND', status: 404 });
    });

    test('requires credentials', async () => {
      const answer = await call('GET', `/api/issues/acme/shop/${number}/${suffix}`, { headers: {} });
      expect(answer.json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
    });

    test('returns 503 without a store, after the check of the path', async () => {
      const bare = await serveApp();
      const answer = await bare.call('GET', `/api/issues/acme/shop/${number}/${suffix}`);
      const bad = await bare.call('GET', `/api/issues/acme/shop/x/${suffix}`);
      await bare.close();
      expect(answer.json).toEqual({ error: 'Pipeline store not available', code: 'STORE_UNAVAILABLE', status: 503 });
      expect(bad.json).toEqual(badNumber(suffix));
    });

    test('returns 500 without details when an unexpected error occurs', async () => {
      await sql`alter table issues rename column issue_number to number_gone`.execute(database.db);
      const { json } = await get(suffix);
      await sql`alter table issues rename column number_gone to issue_number`.execute(database.db);
      expect(json).toEqual({ error: 'Internal server error', code: 'INTERNAL_ERROR', status: 500 });
    });
  });

  test('requires the tenant when several tenants have the repo', async () => {
    const other = await ensureTenant(database.store.db, 'other');
    const { slug } = { slug: { owner: 'Acme', name: 'Shop' } };
    const repo = { slug, vcsHost: 'sandbox' as const, cloneUrl: '', defaultBranch: 'main', setupCommand: null };
    await putRepo(bench.engine, other, { ...repo, poolSize: null, installationId: null, enabled: true });
    for (const suffix of SUFFIXES) {
      expect((await get(suffix)).json).toMatchObject({
        status: 400,
        code: 'INVALID_INPUT',
        error: expect.stringContaining('tenant'),
      });
      expect((await get(`${suffix}?tenant=default`)).status).toBe(200);
    }
    await database.db.updateTable('repos').set({ enabled: false }).where('tenant_id', '=', other).execute();
  });

  afterAll(() => database.clear());
});
