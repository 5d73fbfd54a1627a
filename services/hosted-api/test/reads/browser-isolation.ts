/** Reads of the customers' pages: every route with the rights of the logged-in user, and nothing of another organisation. */

import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { browserRoutes } from '@pipeline/contract';
import { hashTokenBytes } from '@pipeline/engine';
import { insertSession } from '@pipeline/store';
import { type Minted, mintConnection } from '../support/connections.ts';
import { addRepo, answerOf, labelIssue, makeTenant, type Tenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('isolation of sessions', () => {
  const { database } = hosting;
  const SLUG = 'same/shop';
  const HIDDEN = 'same/hidden';

  interface Org {
    mark: string;
    slug: string;
    tenant: Tenant;
    owner: Minted;
    /** Reads the shop alone. */
    member: Minted;
  }
  let alpha: Org;
  let beta: Org;

  const cookieOf = async (userId: number, ttlMs = 600_000): Promise<string> => {
    const value = randomBytes(32).toString('base64url');
    await insertSession(database.store.db, hashTokenBytes(value), userId, ttlMs);
    return `__Host-pipeline_session=${value}`;
  };

  const send = async (path: string, cookie: string | null, method = 'GET', more: Record<string, string> = {}) => {
    const headers = { ...(cookie !== null && { cookie }), ...more };
    const body = method === 'POST' ? { body: '{}' } : {};
    const type = method === 'POST' ? { 'content-type': 'application/json' } : {};
    const init = { method, headers: { ...headers, ...type }, ...body };
    return answerOf(await hosting.api.fetch(`${hosting.api.url}${path}`, init));
  };

  /** A request of each route that reads or changes data. */
  const requestOf = ({ path, method, query }: (typeof browserRoutes)[number], org: string, repo: string) => {
    const names = Object.keys(query?.shape ?? {});
    const given = new URLSearchParams();
    if (names.includes('org')) given.set('org', org);
    if (names.includes('repo')) given.set('repo', repo);
    const filled = path.replace('{number}', '1').replace('{id}', 'conn_none');
    return { method: method.toUpperCase(), path: given.size === 0 ? filled : `${filled}?${given}`, names };
  };
  const ROUTES = browserRoutes.filter(({ auth }) => auth === 'session');
  /** The stream does not end: its test is browser-changes.test.ts. What is refused is as for the others. */
  const isStream = ({ id }: (typeof browserRoutes)[number]) => id === 'browserChanges';
  const OF_ORG = ROUTES.filter((route) => requestOf(route, '', '').names.includes('org') && route.method === 'get');

  async function makeOrg(mark: string): Promise<Org> {
    const tenant = await makeTenant(hosting.api, SLUG);
    const hidden = await addRepo(hosting.api, tenant.id, HIDDEN);
    await labelIssue(hosting.api, tenant.repo, 1, { title: `${mark} 1`, body: mark });
    await labelIssue(hosting.api, hidden, 1, { title: `${mark} HIDDEN` });
    const change = { name: `${mark} Inc` };
    await database.db.updateTable('tenants').set(change).where('id', '=', tenant.id).execute();
    const found = database.db.selectFrom('tenants').select('external_id').where('id', '=', tenant.id);
    const { external_id: slug } = await found.executeTakeFirstOrThrow();
    const owner = await mintConnection(database.owner, { tenantId: tenant.id, role: 'owner' });
    const member = await mintConnection(database.owner, { tenantId: tenant.id, repoIds: [tenant.repo.id] });
    return { mark, slug, tenant, owner, member };
  }

  beforeAll(async () => {
    alpha = await makeOrg('ALPHA');
    beta = await makeOrg('BETA');
  });

  test('the routes cover all that the pages show', () => {
    expect(ROUTES.length).toBe(19);
    expect(OF_ORG.length).toBe(9);
  });

  describe('every route of an organisation', () => {
    test.each(OF_ORG.filter((route) => !isStream(route)).map((route) => [route.id, route] as const))(
      '%s returns its data when an owner reads',
      async (_id, route) => {
        const { path } = requestOf(route, alpha.slug, SLUG);
        const { status, body } = await send(path, await cookieOf(alpha.owner.userId));
        expect([path, status]).toEqual([path, 200]);
        expect(JSON.stringify(body)).not.toContain('BETA');
      },
    );

    test.each(OF_ORG.map((route) => [route.id, route] as const))(
      '%s returns 404 when the user is a member of another organisation only',
      async (_id, route) => {
        const { path } = requestOf(route, alpha.slug, SLUG);
        for (const stranger of [beta.owner, beta.member]) {
          const { status, body } = await send(path, await cookieOf(stranger.userId));
          expect([path, status, body.code]).toEqual([path, 404, 'NOT_FOUND']);
          expect(JSON.stringify(body)).not.toMatch(/ALPHA|same/);
        }
      },
    );

    test('answers an unknown organisation in the same words as one of others', async () => {
      const cookie = await cookieOf(beta.owner.userId);
      const [unknown, foreign] = await Promise.all([
        send('/account/data/bootstrap?org=no-such-org', cookie),
        send(`/account/data/bootstrap?org=${alpha.slug}`, cookie),
      ]);
      expect(unknown.body).toEqual(foreign.body);
    });

    test('returns 404 for a repository that was not granted to the member', async () => {
      const cookie = await cookieOf(alpha.member.userId);
      for (const route of OF_ORG.filter((each) => requestOf(each, '', '').names.includes('repo'))) {
        const { status, body } = await send(requestOf(route, alpha.slug, HIDDEN).path, cookie);
        expect([route.id, status, body.code]).toEqual([route.id, 404, 'REPO_NOT_FOUND']);
        const owner = await send(requestOf(route, alpha.slug, HIDDEN).path, await cookieOf(alpha.owner.userId));
        expect([route.id, owner.status]).toEqual([route.id, 200]);
      }
      const { body } = await send(`/account/data/bootstrap?org=${alpha.slug}`, cookie);
      expect(body.repos.map(({ slug }: { slug: string }) => slug)).toEqual([SLUG]);
    });

    test('returns 404 for the members when the reader is no owner', async () => {
      const path = `/account/data/members?org=${alpha.slug}`;
      const admin = await mintConnection(database.owner, { tenantId: alpha.tenant.id, role: 'admin' });
      for (const { userId } of [alpha.member, admin])
        expect((await send(path, await cookieOf(userId))).status).toBe(404);
      await database.db.deleteFrom('memberships').where('user_id', '=', admin.userId).execute();
      const { body } = await send(path, await cookieOf(alpha.owner.userId));
      const emails = body.items.map(({ email }: { email: string }) => email).sort();
      expect(emails).toEqual([alpha.owner.email, alpha.member.email].sort());
    });

    test('returns 404 from the next request on when the member is removed', async () => {
      const ann = await mintConnection(database.owner, { tenantId: alpha.tenant.id, role: 'owner' });
      const cookie = await cookieOf(ann.userId);
      const path = `/account/data/bootstrap?org=${alpha.slug}`;
      expect((await send(path, cookie)).status).toBe(200);
      await database.db.deleteFrom('memberships').where('user_id', '=', ann.userId).execute();
      expect((await send(path, cookie)).status).toBe(404);
    });
  });

  describe('every route returns 401', () => {
    test.each<[string, () => Promise<{ cookie: string | null; more?: Record<string, string> }>]>([
      ['there is no cookie', async () => ({ cookie: null })],
      ['the session is unknown', async () => ({ cookie: `__Host-pipeline_session=${'A'.repeat(43)}` })],
      ['the session has expired', async () => ({ cookie: await cookieOf(alpha.owner.userId, -1_000) })],
      [
        'there is only a connection token',
        async () => ({ cookie: null, more: { authorization: `Bearer ${alpha.owner.token}` } }),
      ],
      [
        'the user is disabled',
        async () => {
          const { userId } = await mintConnection(database.owner, { tenantId: alpha.tenant.id });
          const disabled_at = new Date(0).toISOString();
          await database.db.updateTable('users').set({ disabled_at }).where('id', '=', userId).execute();
          return { cookie: await cookieOf(userId) };
        },
      ],
    ])('returns 401 when %s', async (_when, given) => {
      const { cookie, more } = await given();
      for (const route of ROUTES) {
        const { path, method } = requestOf(route, alpha.slug, SLUG);
        const { status, body } = await send(path, cookie, method, more);
        expect([path, status]).toEqual([path, 401]);
        expect(JSON.stringify(body)).not.toMatch(/ALPHA|same/);
      }
    });
  });

  describe('a change', () => {
    const formTokenOf = async (cookie: string): Promise<Record<string, string>> => {
      const { body } = await send('/account/data/user', cookie);
      return { 'x-form-token': body.formToken };
    };
    const end = (path: string, cookie: string, headers: Record<string, string>) => send(path, cookie, 'POST', headers);

    test('returns 403 and ends nothing when the form token is missing or of another session', async () => {
      const { userId, connectionId } = await mintConnection(database.owner, { tenantId: alpha.tenant.id });
      const cookie = await cookieOf(userId);
      const strange = await formTokenOf(await cookieOf(beta.owner.userId));
      for (const headers of [{}, strange]) {
        const { status, body } = await end(`/account/data/connections/${connectionId}/end`, cookie, headers);
        expect([status, body.code]).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
      }
      expect((await send('/account/data/connections', cookie)).body.items.length).toBe(1);
    });

    test('ends a connection of the user, and none when it is of another user', async () => {
      const { userId, connectionId } = await mintConnection(database.owner, { tenantId: alpha.tenant.id });
      const cookie = await cookieOf(userId);
      const stranger = await cookieOf(beta.owner.userId);
      const path = `/account/data/connections/${connectionId}/end`;
      expect((await end(path, stranger, await formTokenOf(stranger))).body).toEqual({ ended: 0 });
      expect((await send('/account/data/connections', cookie)).body.items.length).toBe(1);
      expect((await end(path, cookie, await formTokenOf(cookie))).body).toEqual({ ended: 1 });
      expect((await send('/account/data/connections', cookie)).body.items).toEqual([]);
    });

    test('ends all connections of the user and leaves those of others', async () => {
      const { userId, token } = await mintConnection(database.owner, { tenantId: alpha.tenant.id, role: 'owner' });
      const cookie = await cookieOf(userId);
      const headers = await formTokenOf(cookie);
      expect((await end('/account/data/connections/end-all', cookie, headers)).body).toEqual({ ended: 1 });
      const statusOf = async (bearer: string) => {
        const authorization = `Bearer ${bearer}`;
        return (await send('/api/cli/bootstrap', null, 'GET', { authorization })).status;
      };
      expect([await statusOf(token), await statusOf(alpha.owner.token)]).toEqual([401, 200]);
    });

    test('ends a session of the user, and none when it is of another user', async () => {
      const { userId } = await mintConnection(database.owner, { tenantId: alpha.tenant.id });
      const cookie = await cookieOf(userId);
      const other = await cookieOf(userId);
      const stranger = await cookieOf(beta.owner.userId);
      const { body } = await send('/account/data/sessions', cookie);
      const ids = body.items as { id: string; isCurrent: boolean }[];
      expect(ids.map(({ isCurrent }) => isCurrent).sort()).toEqual([false, true]);
      const path = `/account/data/sessions/${ids.find(({ isCurrent }) => !isCurrent)?.id}/end`;
      expect((await end(path, stranger, await formTokenOf(stranger))).body).toEqual({ ended: 0 });
      expect((await send('/account/data/user', other)).status).toBe(200);
      expect((await end(path, cookie, await formTokenOf(cookie))).body).toEqual({ ended: 1 });
      expect((await send('/account/data/user', other)).status).toBe(401);
    });
  });
});
