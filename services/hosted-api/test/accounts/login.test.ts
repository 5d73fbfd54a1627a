import { describe, expect, test } from '@jest/globals';
import { hashTokenBytes } from '@pipeline/engine';
import { auditEntries, insertSession } from '@pipeline/store';
import { authorizeUrl, logIn, PASSWORD, testOauth } from '../oauth/oauth-world.ts';

const LIMITED = { logins: 10, registrations: 0, tokens: 0 };
const lifetimes = { accessSeconds: 600, refreshSeconds: 3_600, connectionSeconds: 7_200 };
const world = testOauth({ oauth: { keys: ['a key of the tests, long enough to be one'], lifetimes, limits: LIMITED } });
const { database } = world.hosting;
const COOKIE = 'pipeline_session';
const forget = () => database.db.deleteFrom('rate_limits').execute();

const login = async () => {
  const browser = world.browser();
  await browser.open('/account/login');
  return browser;
};

describe('a login', () => {
  test('begins a session under a new name; the one before leads nowhere', async () => {
    const person = await world.person('acme');
    const browser = await login();
    const before = browser.cookie(COOKIE) ?? '';
    await logIn(browser, person);
    expect([browser.status, browser.text.includes(person.email)]).toEqual([200, true]);
    expect(browser.cookie(COOKIE)).not.toBe(before);
    const old = world.browser();
    old.setCookie(COOKIE, before);
    await old.open('/account/connections');
    expect(old.text).toContain('<h1>Log in to Pipeline</h1>');
  });

  test('a cookie that was planted before the login does not become a session of its sender', async () => {
    const [thief, victim] = [await login(), world.browser()];
    const planted = thief.cookie(COOKIE) ?? '';
    victim.setCookie(COOKIE, planted);
    await victim.open('/account/login');
    await logIn(victim, await world.person('acme'));
    await thief.open('/account/connections');
    expect(thief.text).toContain('<h1>Log in to Pipeline</h1>');
  });

  test('sets a cookie that scripts and other sites do not get', async () => {
    const browser = world.browser();
    await browser.open('/account/login');
    expect(browser.headers.get('set-cookie')).toBe(
      `${COOKIE}=${browser.cookie(COOKIE)}; Path=/; HttpOnly; SameSite=Lax`,
    );
  });

  test.each([
    ['', '', ['email-error', 'password-error']],
    ['a@example.org', '', ['password-error']],
    ['', PASSWORD, ['email-error']],
  ])('names at each field what is missing for %j and %j', async (email, password, errors) => {
    const browser = await login();
    await browser.submit('/account/login', { email, password });
    expect(browser.status).toBe(400);
    const described = [...browser.text.matchAll(/aria-invalid="true" aria-describedby="([^"]+)"/g)].map(([, id]) => id);
    expect(described).toEqual(errors);
    for (const id of errors) expect(browser.text).toContain(`id="${id}"`);
  });

  test('reads the same for an unknown user, a wrong password, no password, and a disabled user', async () => {
    await forget();
    const [known, none, disabled] = [
      await world.person('acme'),
      await world.person('acme'),
      await world.person('acme'),
    ];
    const users = database.db.updateTable('users');
    await users.set({ password_hash: null }).where('id', '=', none.id).execute();
    await users.set({ disabled_at: new Date().toISOString() }).where('id', '=', disabled.id).execute();
    const pages = [];
    for (const [email, password] of [
      ['nobody@example.org', PASSWORD],
      [known.email, 'wrong'],
      [known.email, 'x'.repeat(5_000)],
      [none.email, PASSWORD],
      [disabled.email, PASSWORD],
    ] as const) {
      const browser = await login();
      await browser.submit('/account/login', { email, password });
      expect(browser.status).toBe(400);
      pages.push(browser.text.replaceAll(email, '').replace(/value="[\w-]{43}"/g, ''));
    }
    expect(new Set(pages).size).toBe(1);
  });

  test('leads to no other site', async () => {
    await forget();
    const person = await world.person('acme');
    for (const place of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/oauth/interaction/../../x',
      'javascript:1',
    ]) {
      const browser = world.browser();
      await browser.open(`/account/login?return_to=${encodeURIComponent(place)}`);
      expect(await logIn(browser, person)).toBeNull();
      expect(new URL(browser.url).pathname).toBe('/account/connections');
    }
  });

  test('shows what was typed as text', async () => {
    await forget();
    const browser = await login();
    await browser.submit('/account/login', { email: '"><script>alert(1)</script>@x', password: 'y' });
    expect(browser.text).not.toContain('<script');
    expect(browser.text).toContain('&lt;script&gt;');
  });
});

describe('a form', () => {
  test.each([
    ['/account/login', { email: 'a@example.org', password: PASSWORD }],
    ['/account/logout', {}],
    ['/account/connections/conn_x/revoke', {}],
  ])('refuses a form to %s that another site made', async (action, fields) => {
    const person = await world.person('acme');
    const browser = await login();
    await logIn(browser, person);
    const cookie = `${COOKIE}=${browser.cookie(COOKIE)}`;
    for (const form_token of [undefined, '', 'x', 'A'.repeat(43)]) {
      const body = `${new URLSearchParams({ ...fields, ...(form_token !== undefined && { form_token }) })}`;
      const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await world.fetch(`${world.front.url}${action}`, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
      });
      expect(answer.status).toBe(403);
    }
    await browser.open('/account/connections');
    expect(browser.text).toContain(person.email);
  });

  test('refuses a form of another browser', async () => {
    const [mine, other] = [await login(), await login()];
    const token = /name="form_token" value="([^"]+)"/.exec(other.text)?.[1] ?? '';
    await mine.submit('/account/login', { form_token: token, email: 'a@example.org', password: PASSWORD });
    expect(mine.status).toBe(403);
  });
});

describe('guessing', () => {
  const guess = async (email: string) => {
    const browser = await login();
    await browser.submit('/account/login', { email, password: 'a guess' });
    return browser;
  };

  test('refuses guesses over all replicas with the time to wait, whether the password is right or wrong', async () => {
    await forget();
    const person = await world.person('acme');
    for (let round = 0; round < 10; round += 1) expect((await guess(person.email.toUpperCase())).status).toBe(400);
    const refused = await guess(person.email);
    expect([refused.status, refused.text.includes('try again in')]).toEqual([429, true]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(200);
    const browser = await login();
    await logIn(browser, person);
    expect(browser.status).toBe(429);
    expect(Number(browser.headers.get('retry-after'))).toBeGreaterThan(200);
    expect((await guess('somebody-else@example.org')).status).toBe(400);
  });

  test('leaves an open session alone when its user is over the limit', async () => {
    await forget();
    const person = await world.person('acme');
    const browser = await login();
    await logIn(browser, person);
    for (let round = 0; round < 11; round += 1) await guess(person.email);
    expect((await guess(person.email)).status).toBe(429);
    await browser.open('/account/connections');
    expect([browser.status, browser.text.includes(person.email)]).toEqual([200, true]);
  });

  test('limits guesses per address over all emails', async () => {
    await forget();
    for (let round = 0; round < 30; round += 1) expect((await guess(`u${round}@example.org`)).status).toBe(400);
    expect((await guess('another@example.org')).status).toBe(429);
    await database.db.deleteFrom('rate_limits').where('key', 'like', 'login address%').execute();
    expect((await guess('another@example.org')).status).toBe(400);
  });

  describe('one email from several addresses', () => {
    /** Behind a proxy, whose word about the address is believed. */
    const behindProxy = async (options = {}) => {
      const oauth = { keys: ['a key of the tests, long enough to be one'] as [string], lifetimes, limits: LIMITED };
      const api = await world.hosting.start({ publicUrl: world.front.url, trustedProxies: 1, oauth, ...options });
      return async (address: string, email: string, password: string) => {
        const from = { 'x-forwarded-for': address };
        const page = await api.fetch(`${api.url}/account/login`, { headers: from });
        const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
        const form_token = /name="form_token" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
        const body = `${new URLSearchParams({ form_token, email, password })}`;
        const headers = { ...from, cookie, 'content-type': 'application/x-www-form-urlencoded' };
        return (await api.fetch(`${api.url}/account/login`, { method: 'POST', headers, body, redirect: 'manual' }))
          .status;
      };
    };

    test('does not lock its owner out elsewhere', async () => {
      await forget();
      const person = await world.person('acme');
      const attempt = await behindProxy();
      for (let round = 0; round < 15; round += 1)
        expect(await attempt('203.0.113.1', person.email, 'a guess')).toBe(round < 10 ? 400 : 429);
      expect(await attempt('203.0.113.1', person.email, PASSWORD)).toBe(429);
      expect(await attempt('198.51.100.7', person.email, PASSWORD)).toBe(303);
    });

    test('limits the guesses of all addresses, except where the owner logged in before', async () => {
      await forget();
      const person = await world.person('acme');
      const attempt = await behindProxy({
        oauth: { keys: ['k'.repeat(32)], lifetimes, limits: { ...LIMITED, logins: 2 } },
      });
      expect(await attempt('198.51.100.7', person.email, PASSWORD)).toBe(303);
      for (let round = 0; round < 20; round += 1)
        expect(await attempt(`203.0.113.${round >> 1}`, person.email, 'a guess')).toBe(400);
      expect(await attempt('203.0.113.99', person.email, PASSWORD)).toBe(429);
      expect(await attempt('198.51.100.7', person.email, PASSWORD)).toBe(303);
    });
  });

  test('records guesses in the audit with the name, once for each window where a limit refuses them, and never with a password', async () => {
    await forget();
    const person = await world.person('acme');
    const before = (await auditEntries(database.db, 1))[0]?.id ?? 0;
    for (let round = 0; round < 14; round += 1) await guess(person.email);
    const browser = await login();
    await browser.submit('/account/login', { email: `x\u202e\n${'y'.repeat(500)}@e`, password: 'a guess' });
    const entries = (await auditEntries(database.db, 50)).filter(({ id }) => id > before).reverse();
    const base = { actor_type: 'system', actor_id: 'hosted-api', details: { address: '127.0.0.1' } };
    const failed = {
      ...base,
      action: 'login-failed',
      subject: `user ${person.email}`,
      reason: 'wrong name or password, from 127.0.0.1',
    };
    expect(entries).toMatchObject([
      ...Array.from({ length: 10 }, () => failed),
      { ...base, action: 'login-limited', subject: `user ${person.email}` },
      { ...base, action: 'login-failed', subject: `user x ${'y'.repeat(97)}…` },
    ]);
    expect(JSON.stringify(entries)).not.toContain('a guess');
  });

  test('many at once do not slip past', async () => {
    await forget();
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async () => (await guess('crowd@example.org')).status),
    );
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
  });

  test('starts again when the window is over; successful logins do not count', async () => {
    await forget();
    const person = await world.person('acme');
    for (let round = 0; round < 12; round += 1) {
      const browser = await login();
      await logIn(browser, person);
      expect(browser.status).toBe(200);
    }
    for (let round = 0; round < 11; round += 1) await guess(person.email);
    expect((await guess(person.email)).status).toBe(429);
    const now = new Date();
    try {
      database.clock.now = new Date(now.getTime() + 301_000);
      expect((await guess(person.email)).status).toBe(400);
    } finally {
      database.clock.now = null;
    }
  });
});

describe('a session', () => {
  test('ends by logging out, at the store too', async () => {
    await forget();
    const browser = await login();
    await logIn(browser, await world.person('acme'));
    const cookie = browser.cookie(COOKIE) ?? '';
    await browser.submit('/account/logout', {});
    expect(browser.text).toContain('<h1>Log in to Pipeline</h1>');
    browser.setCookie(COOKIE, cookie);
    await browser.open('/account/connections');
    expect(browser.text).toContain('<h1>Log in to Pipeline</h1>');
  });

  test('ends after 12 hours, and when its user is disabled', async () => {
    const person = await world.person('acme');
    const cookie = 's'.repeat(43);
    await insertSession(database.store.db, hashTokenBytes(cookie), person.id, 12 * 3_600_000);
    const browser = world.browser();
    browser.setCookie(COOKIE, cookie);
    const heading = async () => {
      await browser.open('/account/connections');
      return /<h1>(.*?)</.exec(browser.text)?.[1];
    };
    expect(await heading()).toBe('Your connections');
    try {
      database.clock.now = new Date(Date.now() + 12 * 3_600_000 + 1_000);
      expect(await heading()).toBe('Log in to Pipeline');
    } finally {
      database.clock.now = null;
    }
    expect(await heading()).toBe('Your connections');
    await database.db
      .updateTable('users')
      .set({ disabled_at: new Date().toISOString() })
      .where('id', '=', person.id)
      .execute();
    expect(await heading()).toBe('Log in to Pipeline');
  });
});

test('behind https the cookies go over https only, and addresses are those of the public address', async () => {
  const api = await world.hosting.start({
    publicUrl: 'https://pipeline.example.org',
    oauth: { keys: ['k'.repeat(32)], lifetimes, limits: LIMITED },
  });
  const page = await api.fetch(`${api.url}/account/login`);
  expect(page.headers.get('set-cookie')).toMatch(
    /^__Host-pipeline_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  const clientId = await world.program();
  const url = new URL(authorizeUrl(world, clientId, { resource: 'https://pipeline.example.org/api' }));
  const answer = await api.fetch(`${api.url}${url.pathname}${url.search}`, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  const cookies = answer.headers.getSetCookie();
  expect(cookies.length).toBeGreaterThan(1);
  for (const cookie of cookies) expect(cookie).toMatch(/; secure/i);
  const rows = await database.db.selectFrom('oauth_artifacts').select('payload').execute();
  expect(JSON.stringify(rows)).toContain('https://pipeline.example.org/oauth/authorize/');
});

test('a page reports that the store is not available', async () => {
  const store = world.hosting.open({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
  const api = await world.hosting.start({ store });
  const answer = await api.fetch(`${api.url}/account/connections`, {
    headers: { cookie: `__Host-${COOKIE}=${'s'.repeat(43)}` },
  });
  expect([answer.status, (await answer.text()).includes('Not available')]).toEqual([503, true]);
});
