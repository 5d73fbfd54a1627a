import { describe, expect, test } from '@jest/globals';
import { authorizeUrl, connect, decide, logIn, type Person } from './oauth-world.ts';
import { world } from './world.ts';

const EVIL = 'https://evil.example/cb';

/** Requests that a registered program can make fail, each in its way. */
const FAILING: [string, Record<string, string | undefined>][] = [
  ['an unknown scope', { scope: 'everything' }],
  ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
  ['another resource', { resource: 'https://elsewhere.example/api' }],
  ['another response type', { response_type: 'token' }],
  ['prompt none', { prompt: 'none' }],
  ['an error in the fragment', { scope: 'everything', response_mode: 'fragment' }],
  ['an error by a form that sends itself', { scope: 'everything', response_mode: 'form_post' }],
];

const loggedIn = async (person: Person) => {
  const browser = world.browser();
  await browser.open('/account/login');
  await logIn(browser, person);
  return browser;
};

describe('an error of an authorization request', () => {
  test.each(FAILING)(
    'an error is a page that spells the address out, when the user has not approved the program: %s',
    async (_, more) => {
      const clientId = await world.program({ client_name: 'Invoices', redirect_uris: [EVIL] });
      const person = await world.person('acme');
      for (const browser of [world.browser(), await loggedIn(person)]) {
        const url = authorizeUrl(world, clientId, { redirect_uri: EVIL, ...more });
        expect(await browser.open(url)).toBeNull();
        // A scope is looked at when the person is known.
        if (browser.text.includes('action="/account/login"')) expect(await logIn(browser, person)).toBeNull();
        expect(browser.status).toBe(400);
        expect(browser.headers.get('location')).toBeNull();
        expect(browser.headers.get('refresh')).toBeNull();
        expect(browser.text).toContain(`<code>${EVIL}</code>`);
        expect(browser.text).not.toMatch(/href="https:\/\/evil|<script|<form[^>]*evil/);
        expect(browser.headers.get('content-security-policy')).toContain("default-src 'none'");
      }
    },
  );

  test.each(FAILING)('reaches a program that the person at this browser has approved: %s', async (_, more) => {
    const person = await world.person('acme');
    const { clientId } = await connect(world, { person });
    const browser = await loggedIn(person);
    const callback = await browser.open(authorizeUrl(world, clientId, more));
    expect(callback?.origin).toBe('http://127.0.0.1:49152');
    expect(callback?.searchParams.get('error')).toMatch(/^[a-z_]+$/);
    expect(callback?.searchParams.get('state')).toBe('abc');
    expect(callback?.searchParams.get('iss')).toBe(world.front.url);
  });

  test('stays here when another person approved the program, or the approval has ended', async () => {
    const person = await world.person('acme');
    const { clientId } = await connect(world, { person });
    const url = authorizeUrl(world, clientId, { scope: 'everything' });
    const anonymous = world.browser();
    expect(
      await anonymous.open(authorizeUrl(world, clientId, { resource: 'https://elsewhere.example/api' })),
    ).toBeNull();
    expect(anonymous.status).toBe(400);
    expect(await (await loggedIn(await world.person('acme'))).open(url)).toBeNull();
    const browser = await loggedIn(person);
    expect(await browser.open(url)).not.toBeNull();
    await world.hosting.database.db
      .updateTable('oauth_connections')
      .set({ revoked_at: new Date().toISOString() })
      .where('client_id', '=', clientId)
      .execute();
    expect(await browser.open(url)).toBeNull();
  });

  test('names no address of a program when that address is not registered', async () => {
    const clientId = await world.program({ redirect_uris: ['https://host.example/cb'] });
    const browser = world.browser();
    expect(await browser.open(authorizeUrl(world, clientId, { redirect_uri: EVIL, scope: 'x' }))).toBeNull();
    expect([browser.status, browser.text.includes('evil.example')]).toEqual([400, false]);
  });

  test('an error is explained in a sentence, with the code for developers', async () => {
    const clientId = await world.program({ redirect_uris: [EVIL] });
    const browser = world.browser();
    await browser.open(
      authorizeUrl(world, clientId, { redirect_uri: EVIL, resource: 'https://elsewhere.example/api' }),
    );
    expect(browser.text).toContain('The program requested access to a different service.');
    expect(browser.text).toContain('<code>invalid_target');
  });
});

test('a refusal of the person reaches the program, whose address stood on the page', async () => {
  const clientId = await world.program({ redirect_uris: [EVIL] });
  const browser = world.browser();
  await browser.open(authorizeUrl(world, clientId, { redirect_uri: EVIL }));
  await logIn(browser, await world.person('acme'));
  expect(browser.text).toContain('evil.example');
  const callback = await decide(browser, 'deny');
  expect([callback.origin, callback.searchParams.get('error')]).toEqual(['https://evil.example', 'access_denied']);
});

describe('a redirect by a scheme of the program', () => {
  const register = async (redirect: string) => {
    const answer = await world.fetch(`${world.front.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [redirect] }),
    });
    return { status: answer.status, body: (await answer.json()) as { error?: string; error_description?: string } };
  };

  test.each([
    'cursor://callback',
    'myapp:/cb',
    'mailto:a@example.org',
    'tel:1',
    'intent://x',
    'chrome://settings',
    'x.:/cb',
    '.x:/cb',
  ])('refuses a redirect without a dot in the scheme: %s', async (redirect) => {
    const { status, body } = await register(redirect);
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
  });

  test.each(['com.example.app:/cb', 'com.example.my-app://cb'])('registers a reversed domain: %s', async (redirect) => {
    expect((await register(redirect)).status).toBe(201);
  });

  test.each(['https://host.example/a\nb', 'https://host.example/\u202ecb', 'com.example.app:/a b'])(
    'refuses a redirect with characters that no address holds: %j',
    async (redirect) => {
      expect((await register(redirect)).status).toBe(400);
    },
  );
});
