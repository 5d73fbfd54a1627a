import { describe, expect, test } from '@jest/globals';
import { OAUTH, PUBLIC_URL } from '../support/hosted.ts';
import { authorizeUrl, CALLBACK } from './oauth-world.ts';
import { world } from './world.ts';

const { database } = world.hosting;

const register = async (metadata: unknown, headers: Record<string, string> = {}) => {
  const body = typeof metadata === 'string' ? metadata : JSON.stringify(metadata);
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  const answer = await world.fetch(`${world.front.url}/oauth/register`, init);
  // biome-ignore lint/suspicious/noExplicitAny: read by tests.
  return { status: answer.status, body: (await answer.json()) as any };
};

describe('registration', () => {
  test.each([
    ['http://evil.example/cb'],
    ['http://10.0.0.1/cb'],
    ['http://localhost.evil.example/cb'],
    ['https://host.example/cb#part'],
    ['https://user@host.example/cb'],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['not an address'],
    [''],
    [7],
  ])('refuses the redirect %j, and names what would be right', async (redirect) => {
    const { status, body } = await register({ redirect_uris: ['https://host.example/cb', redirect] });
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
    expect(body.error_description).toMatch(/\w+ \w+/);
  });

  test.each([['[]'], ['null'], ['{'], ['{}'], ['{"redirect_uris": []}'], ['{"redirect_uris": "https://a.example/"}']])(
    'refuses the body %s',
    async (text) => {
      const { status, body } = await register(text);
      expect([status, typeof body.error]).toEqual([400, 'string']);
    },
  );

  test.each(['client_secret_basic', 'client_secret_post', 'private_key_jwt', undefined])(
    'gives no secret to a client that asks for %s',
    async (method) => {
      const { status, body } = await register({ redirect_uris: [CALLBACK], token_endpoint_auth_method: method });
      expect([status, body.token_endpoint_auth_method]).toEqual([201, 'none']);
      expect(body).not.toHaveProperty('client_secret');
      const { metadata } = await database.db
        .selectFrom('oauth_clients')
        .select('metadata')
        .where('id', '=', body.client_id)
        .executeTakeFirstOrThrow();
      expect(JSON.stringify(metadata)).not.toContain('secret');
    },
  );

  test('makes clients with a redirect to this computer native, also among others', async () => {
    const redirects = ['https://host.example/cb', 'http://127.0.0.1/cb', 'com.example.app:/cb'];
    const { status, body } = await register({ redirect_uris: redirects });
    expect([status, body.application_type, body.redirect_uris]).toEqual([201, 'native', redirects]);
    const web = await register({ redirect_uris: ['https://host.example/cb'] });
    expect(web.body.application_type).toBe('web');
  });

  test('keeps the visible characters of a name and no direction marks', async () => {
    const { body } = await register({ redirect_uris: [CALLBACK], client_name: 'Bank\u202e\u0000 of\nAnn ' });
    expect(body.client_name).toBe('Bank of Ann');
    expect((await register({ redirect_uris: [CALLBACK], client_name: 7 })).status).toBe(400);
  });

  test('leaves unknown fields out', async () => {
    const { status, body } = await register({ redirect_uris: [CALLBACK], jwks_uri: 'https://a.example/j', x: 1 });
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('jwks_uri');
    expect(body).not.toHaveProperty('registration_access_token');
  });
});

describe('a redirect', () => {
  test('a redirect to this computer may have any port', async () => {
    const clientId = await world.program({ redirect_uris: ['http://127.0.0.1:1/callback'] });
    const browser = world.browser();
    await browser.open(authorizeUrl(world, clientId, { redirect_uri: 'http://127.0.0.1:50123/callback' }));
    expect([browser.status, browser.text.includes('Log in')]).toEqual([200, true]);
  });

  test('elsewhere is exactly one of those registered; others get a page, and never the browser', async () => {
    const clientId = await world.program({ redirect_uris: ['https://host.example/cb'] });
    for (const redirect of ['https://host.example/cb2', 'https://host.example:8443/cb', 'https://evil.example/cb']) {
      const browser = world.browser();
      expect(await browser.open(authorizeUrl(world, clientId, { redirect_uri: redirect }))).toBeNull();
      expect([browser.status, browser.text.includes('to an address that it has not registered')]).toEqual([400, true]);
      expect(browser.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
  });
});

test('an unknown program gets a page that helps, and its name is no markup', async () => {
  const browser = world.browser();
  await browser.open(authorizeUrl(world, '<script>alert(1)</script>'));
  expect(browser.status).toBe(400);
  expect(browser.text).not.toContain('<script');
});

describe('metadata', () => {
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await world.fetch(`${world.front.url}${path}`, { headers });
    return (await answer.json()) as Record<string, unknown>;
  };

  test('leads from the API to its server, and from there to the endpoints', async () => {
    const { url } = world.front;
    const wanted = { resource: `${url}/api`, authorization_servers: [url], scopes_supported: ['pipeline:read'] };
    expect(await read('/.well-known/oauth-protected-resource')).toMatchObject(wanted);
    expect(await read('/.well-known/oauth-protected-resource/api')).toMatchObject(wanted);
    expect(await read('/.well-known/oauth-authorization-server')).toMatchObject({
      issuer: url,
      authorization_endpoint: `${url}/oauth/authorize`,
      token_endpoint: `${url}/oauth/token`,
      registration_endpoint: `${url}/oauth/register`,
      revocation_endpoint: `${url}/oauth/revoke`,
      device_authorization_endpoint: `${url}/oauth/device`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    });
  });
});

test('no address comes from a header of the request', async () => {
  const headers = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '6.6.6.6',
    forwarded: 'host=evil.example',
  };
  const clientId = await world.program();
  const answer = await world.fetch(authorizeUrl(world, clientId), { headers, redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/oauth\/interaction\/[\w-]+$/),
  ]);
  const rows = await database.db.selectFrom('oauth_artifacts').select('payload').execute();
  expect(JSON.stringify(rows)).not.toContain('evil.example');
  expect(JSON.stringify(rows)).toContain(`${world.front.url}/oauth/authorize/`);
  expect(answer.headers.getSetCookie().join()).not.toMatch(/; secure/i);
});

describe('too many requests of one address', () => {
  const limited = (limits: Partial<typeof OAUTH.limits>) =>
    world.hosting.start({ publicUrl: PUBLIC_URL, oauth: { ...OAUTH, limits: { ...OAUTH.limits, ...limits } } });
  const post = (path: string, type: string, body: string) => ({
    path,
    init: { method: 'POST', headers: { 'content-type': type }, body },
  });
  const form = 'application/x-www-form-urlencoded';

  test.each([
    ['registrations', post('/oauth/register', 'application/json', JSON.stringify({ redirect_uris: [CALLBACK] })), 201],
    ['tokens', post('/oauth/token', form, 'grant_type=refresh_token&client_id=x&refresh_token=y'), 401],
  ] as const)(
    '%s are refused with the time to wait, on all replicas together',
    async (kind, { path, init }, status) => {
      await database.db.deleteFrom('rate_limits').execute();
      const [one, two] = [await limited({ [kind]: 2 }), await limited({ [kind]: 2 })];
      expect((await one.fetch(`${one.url}${path}`, init)).status).toBe(status);
      expect((await two.fetch(`${two.url}${path}`, init)).status).toBe(status);
      const third = await one.fetch(`${one.url}${path}`, init);
      expect([third.status, Number(third.headers.get('retry-after')) > 100]).toEqual([429, true]);
      expect(third.headers.get('ratelimit')).toMatch(/;r=0;t=\d+$/);
    },
  );

  test('metadata documents count as registrations', async () => {
    await database.db.deleteFrom('rate_limits').execute();
    const api = await limited({ registrations: 1 });
    const authorize = async (client_id: string) => {
      const answer = await api.fetch(`${api.url}/oauth/authorize?${new URLSearchParams({ client_id })}`, {
        headers: { accept: 'text/html' },
      });
      return (await answer.text()).includes('Too many programs');
    };
    expect(await authorize('https://127.0.0.1:9/a.json')).toBe(false);
    expect(await authorize('https://127.0.0.1:9/b.json')).toBe(true);
  });
});
