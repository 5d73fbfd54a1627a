import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin } from '@pipeline/engine';
import { auditEntries } from '@pipeline/store';
import { ANNA, openPage, submitForm } from '@pipeline/testing/sandbox';
import { authorizeUrl, decide, logIn, type Person } from '../oauth/oauth-world.ts';
import { CLIENT } from '../support/openid-provider.ts';
import type { Browser } from './browser.ts';
import { GITHUB, heading, testProviders } from './provider-world.ts';

const { env, world, newPerson, administrator, link, begin, passProvider, logInWithOpenid, identities, sessions } =
  testProviders();
const { database } = world.hosting;

describe('a login by OpenID Connect', () => {
  test('begins a session of the linked user when the administrator has linked the account', async () => {
    const person = await world.person('acme');
    await link(person, env.openid.person?.sub ?? '');
    const { browser, at } = await begin();
    expect(at.origin).toBe(env.openid.issuer);
    expect(Object.fromEntries(at.searchParams)).toMatchObject({
      ...{ response_type: 'code', client_id: CLIENT.id, code_challenge_method: 'S256', scope: 'openid email profile' },
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    await browser.open((await passProvider(at)).href);
    expect([browser.status, heading(browser)]).toEqual([200, 'Your connections']);
    expect(browser.text).toContain(person.email);
    const [row] = (await identities()).filter(({ user_id }) => user_id === person.id);
    expect(row).toMatchObject({ subject: env.openid.person?.sub, name: env.openid.person?.email });
    expect(row?.last_login_at).not.toBeNull();
  });

  test('offers the providers on the login page, which keeps its policy for forms', async () => {
    const browser = world.browser();
    await browser.open('/account/login?return_to=%2F');
    expect(browser.text).toContain('/account/login/oidc/start?return_to=%2F');
    expect(browser.text).toMatch(/Log in\s+with Example SSO/);
    expect(browser.text).toMatch(/Log in\s+with GitHub/);
    expect(browser.headers.get('content-security-policy')).toContain("form-action 'self'");
  });

  test('leads back to the program that waits for it, and to no other site', async () => {
    const person = await world.person('acme');
    await link(person, env.openid.person?.sub ?? '');
    const browser = world.browser();
    await browser.open(authorizeUrl(world, await world.program()));
    const start = /href="(\/account\/login\/oidc\/start[^"]*)"/.exec(browser.text)?.[1] ?? '';
    await logInWithOpenid(start, browser);
    expect(heading(browser)).toMatch(/^Allow Reader/);
    expect((await decide(browser, 'allow')).searchParams.get('code')).toBeTruthy();
    const { browser: other } = await logInWithOpenid('/account/login/oidc/start?return_to=https%3A%2F%2Fevil.example');
    expect(new URL(other.url).pathname).toBe('/account/connections');
  });

  test('refuses the login when no user has the account, although the email address is that of a user', async () => {
    const person = await world.person('acme');
    env.openid.person = newPerson({ email: person.email });
    const before = [await identities(), await sessions()];
    const { browser } = await logInWithOpenid();
    expect([browser.status, heading(browser)]).toEqual([403, 'This account is not connected']);
    expect(browser.text).toContain(env.openid.issuer);
    expect(browser.text).toContain(env.openid.person.sub);
    expect([await identities(), await sessions()]).toEqual(before);
  });

  test('refuses the login when the user is disabled', async () => {
    const person = await world.person('acme');
    await link(person, env.openid.person?.sub ?? '');
    await admin.disableUser(administrator(), person.email, true);
    const { browser } = await logInWithOpenid();
    expect([browser.status, heading(browser)]).toEqual([403, 'This account is not connected']);
  });

  test.each([{ email_verified: false }, { email_verified: undefined }, { email_verified: 'no' }])(
    'refuses the login when the provider reports %j',
    async (claims) => {
      const person = await world.person('acme');
      env.openid.person = newPerson(claims);
      await link(person, env.openid.person.sub);
      const before = await sessions();
      const { browser } = await logInWithOpenid();
      expect([browser.status, heading(browser)]).toEqual([403, 'Your email address is not verified']);
      expect(await sessions()).toEqual(before);
    },
  );

  test.each(['a b', 'x'.repeat(256), 'sub-\u00e9'])('fails when the subject is %j', async (sub) => {
    env.openid.person = newPerson({ sub });
    const { browser } = await logInWithOpenid();
    expect([browser.status, heading(browser)]).toEqual([503, 'The login did not work']);
  });

  test('stores the name as one visible line when the provider sends another', async () => {
    const person = await world.person('acme');
    env.openid.person = newPerson({ email: `<b>x\u0000\u202e\n${'y'.repeat(300)}` });
    await link(person, env.openid.person.sub);
    const { browser } = await logInWithOpenid();
    expect(browser.status).toBe(200);
    const [row] = (await identities()).filter(({ user_id }) => user_id === person.id);
    expect(row?.name).toMatch(/^<b>x y{90,94}…$/);
    await browser.open('/account/logins');
    expect(browser.text).toContain('&lt;b&gt;x y');
  });

  test('shows that it was cancelled when the person refuses', async () => {
    env.openid.person = null;
    const { browser } = await logInWithOpenid();
    expect([browser.status, heading(browser)]).toEqual([403, 'Not logged in']);
    expect(browser.text).toContain('/account/login');
  });

  test('shows that the provider failed when it is down at the start or at the exchange, and works again after it', async () => {
    const person = await world.person('acme');
    await link(person, env.openid.person?.sub ?? '');
    const { browser, at } = await begin();
    const callback = await passProvider(at);
    env.openid.isUp = false;
    await browser.open(callback.href);
    expect([browser.status, heading(browser)]).toEqual([503, 'The login did not work']);
    const api = await world.hosting.start({
      publicUrl: world.front.url,
      identityProviders: {
        openid: {
          ...{ issuer: env.openid.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, label: 'Example SSO' },
          clientAuthMethod: 'client_secret_basic',
        },
        limit: 0,
      },
    });
    const fresh = () => api.fetch(`${api.url}/account/login/oidc/start`, { redirect: 'manual' });
    expect((await fresh()).status).toBe(503);
    env.openid.isUp = true;
    expect((await fresh()).status).toBe(303);
  });

  test('fails when the client secret is wrong', async () => {
    const api = await world.hosting.start({
      publicUrl: world.front.url,
      identityProviders: {
        openid: {
          ...{ issuer: env.openid.issuer, clientId: CLIENT.id, clientSecret: 'wrong', label: 'Example SSO' },
          clientAuthMethod: 'client_secret_basic',
        },
        limit: 0,
      },
    });
    const started = await api.fetch(`${api.url}/account/login/oidc/start`, { redirect: 'manual' });
    const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? '';
    const callback = await passProvider(new URL(started.headers.get('location') ?? ''));
    const answer = await api.fetch(`${api.url}${callback.pathname}${callback.search}`, { headers: { cookie } });
    expect([answer.status, await answer.text()]).toEqual([
      503,
      expect.stringContaining('Example SSO could not be reached'),
    ]);
  });
});

describe('a callback', () => {
  const over = async (browser: Browser, url: string) => {
    const before = await sessions();
    await browser.open(url);
    expect([browser.status, heading(browser)]).toEqual([400, 'This login is over']);
    expect(await sessions()).toEqual(before);
  };

  beforeEach(async () => {
    await link(await world.person('acme'), env.openid.person?.sub ?? '');
  });

  test('refuses a callback when another browser began the login', async () => {
    const { at } = await begin();
    const thief = world.browser();
    await thief.open('/account/login');
    await over(thief, (await passProvider(at)).href);
  });

  test('refuses a callback when the state is wrong, missing or of the other provider', async () => {
    const { browser, at } = await begin();
    const callback = await passProvider(at);
    const changed = new URL(callback);
    changed.searchParams.set('state', 'x'.repeat(43));
    await over(browser, changed.href);
    changed.searchParams.delete('state');
    await over(browser, changed.href);
    await over(browser, callback.href.replace('/oidc/', '/github/'));
    // The state of the last one was used up by the wrong provider.
    await over(browser, callback.href);
  });

  test('refuses a callback that is used twice', async () => {
    const { browser, callback } = await logInWithOpenid();
    expect(browser.status).toBe(200);
    await over(browser, callback.href);
  });

  test('refuses a callback after 15 minutes', async () => {
    const { browser, at } = await begin();
    const callback = await passProvider(at);
    try {
      database.clock.now = new Date(Date.now() + 15 * 60_000 + 1_000);
      await over(browser, callback.href);
    } finally {
      database.clock.now = null;
    }
  });

  test('fails when the code belongs to the login of another browser', async () => {
    const [mine, other] = [await begin(), await begin()];
    const stolen = await passProvider(other.at);
    const callback = await passProvider(mine.at);
    callback.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    await mine.browser.open(callback.href);
    expect([mine.browser.status, heading(mine.browser)]).toEqual([503, 'The login did not work']);
  });

  test('answers with a page without effect when the provider is unknown', async () => {
    for (const path of ['/account/login/other/start', '/account/login/other/callback?state=x']) {
      const browser = world.browser();
      await browser.open(path);
      expect([browser.status, heading(browser)]).toEqual([404, 'Page not found']);
    }
  });
});

describe('connecting an account', () => {
  test('refuses to connect an account when another page sends the form, or no user is logged in', async () => {
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, await world.person('acme'));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const path of ['/account/logins/oidc/connect', '/account/logins/remove']) {
      await browser.open(path, { method: 'POST', headers, body: 'form_token=x' });
      expect(browser.status).toBe(403);
      const stranger = world.browser();
      await stranger.open(path, { method: 'POST', headers, body: '' });
      expect(heading(stranger)).toBe('Log in to Pipeline');
    }
  });

  test('refuses to connect an account when the user has logged out meanwhile', async () => {
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, await world.person('acme'));
    await browser.open('/account/logins');
    const at = (await browser.submit('/account/logins/oidc/connect', {})) as URL;
    const callback = await passProvider(at);
    await database.db.deleteFrom('user_sessions').execute();
    await browser.open(callback.href);
    expect([browser.status, heading(browser)]).toEqual([400, 'This login is over']);
    expect((await identities()).filter(({ subject }) => subject === env.openid.person?.sub)).toEqual([]);
  });
});

test('logins by providers are limited by address when a limit is set', async () => {
  const api = await world.hosting.start({
    identityProviders: { github: { url: env.github.sandbox.url, ...GITHUB, label: 'GitHub' }, limit: 2 },
  });
  const start = () => api.fetch(`${api.url}/account/login/github/start`, { redirect: 'manual' });
  expect([(await start()).status, (await start()).status, (await start()).status]).toEqual([303, 303, 429]);
});

describe('a login by GitHub', () => {
  const passGithub = async (at: URL, fields: Record<string, string>) => {
    const asked = await submitForm(await openPage(at.href), fields);
    if (asked.location === null) throw new Error(asked.text);
    return new URL(asked.location);
  };
  const anna = { decision: 'authorize', token: ANNA.token };
  let annasId = '';
  beforeAll(async () => {
    const { data } = await env.github.api('GET', '/user', undefined, ANNA.token);
    annasId = String((data as { id: number }).id);
  });
  beforeEach(async () => {
    await database.db.deleteFrom('user_identities').execute();
  });

  test('begins a session of the user that the numeric id is linked to', async () => {
    const person = await world.person('acme');
    await link(person, annasId, env.github.sandbox.url);
    const { browser, at } = await begin('/account/login/github/start');
    expect(at.searchParams.get('scope')).toBeNull();
    await browser.open((await passGithub(at, anna)).href);
    expect(browser.text).toContain(person.email);
    expect(await identities()).toMatchObject([{ issuer: env.github.sandbox.url, subject: annasId, name: ANNA.login }]);
  });

  test('names issuer and id when the account is not linked', async () => {
    const { browser, at } = await begin('/account/login/github/start');
    await browser.open((await passGithub(at, anna)).href);
    expect([browser.status, heading(browser)]).toEqual([403, 'This account is not connected']);
    expect(browser.text).toContain(`<code>${annasId}</code>`);
  });

  test('shows that it was cancelled when the person cancels', async () => {
    const { browser, at } = await begin('/account/login/github/start');
    await browser.open((await passGithub(at, { decision: 'cancel' })).href);
    expect([browser.status, heading(browser)]).toEqual([403, 'Not logged in']);
  });

  test.each([['POST /login/oauth/access_token'], ['GET /user']])(
    'shows that GitHub failed when %s does',
    async (request) => {
      const [method = '', path = ''] = request.split(' ');
      const { browser, at } = await begin('/account/login/github/start');
      const callback = await passGithub(at, anna);
      env.github.sandbox.failNext({ status: 500, match: { method, path } });
      await browser.open(callback.href);
      expect([browser.status, heading(browser)]).toEqual([503, 'The login did not work']);
    },
  );

  test('a logged-in user connects an account, once for all users, and removes it again', async () => {
    const [person, other] = [await world.person('acme'), await world.person('acme')];
    const connect = async (who: Person) => {
      const browser = world.browser();
      await browser.open('/account/login');
      await logIn(browser, who);
      await browser.open('/account/logins');
      const at = await browser.submit('/account/logins/github/connect', {});
      if (!at) throw new Error(browser.text);
      await browser.open((await passGithub(at, anna)).href);
      return browser;
    };
    const browser = await connect(person);
    expect([browser.status, heading(browser)]).toEqual([200, 'Ways to log in']);
    expect(browser.text).toContain('The account was connected');
    expect(browser.headers.get('content-security-policy')).not.toContain('form-action');
    const refused = await connect(other);
    expect([refused.status, refused.text.includes('linked to another user')]).toEqual([400, true]);
    expect(await identities()).toMatchObject([{ user_id: person.id, subject: annasId }]);
    await browser.open('/account/logins');
    await browser.submit('/account/logins/remove', {});
    expect(browser.text).toContain('The account was removed');
    expect(await identities()).toEqual([]);
    const entries = (await auditEntries(database.db, 10)).filter(({ action }) => action.startsWith('identity'));
    const actions = entries
      .slice(0, 2)
      .map(({ action, subject, actor_id, actor_type }) => [action, subject, actor_id, actor_type]);
    expect(actions).toEqual([
      ['identity-unlink', `user ${person.email}`, person.email, 'user'],
      ['identity-link', `user ${person.email}`, person.email, 'user'],
    ]);
  });

  test('keeps the account when it is the only way to log in', async () => {
    const person = await world.person('acme');
    await link(person, annasId, env.github.sandbox.url);
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    await browser.open('/account/logins');
    await database.db.updateTable('users').set({ password_hash: null }).where('id', '=', person.id).execute();
    await browser.submit('/account/logins/remove', {});
    expect([browser.status, browser.text.includes('your only way to log in')]).toEqual([400, true]);
    expect(browser.text).not.toContain('action="/account/logins/remove"');
    expect(await identities()).toHaveLength(1);
  });
});
