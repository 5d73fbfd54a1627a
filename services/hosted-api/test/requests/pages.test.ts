import { describe, expect, test } from '@jest/globals';
import { inWords } from '../../src/pages/consent-page.ts';
import { authorizeUrl, connect, decide, logIn, testOauth } from '../oauth/oauth-world.ts';

const world = testOauth({ monitorUrl: 'https://monitor.example.org' });

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const get = async (path: string, accept: string | null, method = 'GET') => {
  const answer = await world.fetch(`${world.front.url}${path}`, { method, headers: accept === null ? {} : { accept } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

describe('the address of the service', () => {
  test.each([BROWSER, 'application/json', '*/*', null])(
    'shows a page with links to what there is, for Accept %s',
    async (accept) => {
      const { status, headers, text } = await get('/', accept);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      for (const [, path = ''] of text.matchAll(/href="(\/[^"]*)"/g)) {
        const { status: found } = await get(path, BROWSER);
        expect([path, [200, 303].includes(found)]).toEqual([path, true]);
      }
      expect(text).toContain('href="/account/connections"');
      expect(text).toContain('href="/api/openapi.json"');
      expect(text).toContain('href="https://monitor.example.org"');
      expect(text).toContain(`${world.front.url}/api/mcp`);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(text).not.toContain('<script');
    },
  );
});

describe('an address where nothing is', () => {
  test.each(['/nothing', '/account', '/oauth/token', '/account/login/x', '/favicon.ico'])(
    'answers a browser with a page: %s',
    async (path) => {
      const { status, headers, text } = await get(path, BROWSER);
      expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(text).toContain('<h1>Page not found</h1>');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    },
  );

  test.each([
    ['/nothing', 'application/json', 404, 'NOT_FOUND'],
    ['/nothing', '*/*', 404, 'NOT_FOUND'],
    ['/nothing', null, 404, 'NOT_FOUND'],
    ['/api/nothing', BROWSER, 401, 'AUTH_REQUIRED'],
    ['/api/nothing', null, 401, 'AUTH_REQUIRED'],
  ])('answers a program with an error of the API: %s with Accept %s', async (path, accept, status, code) => {
    const answer = await get(path, accept);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([status, { code, status }]);
  });

  test('answers a browser with a token with an error of the API below /api', async () => {
    const { access } = await connect(world);
    const headers = { accept: BROWSER, authorization: `Bearer ${access}` };
    const answer = await world.fetch(`${world.front.url}/api/nothing`, { headers });
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
  });
});

describe('the login', () => {
  test('names the product and the program that waits, also after a wrong password', async () => {
    const browser = world.browser();
    await browser.open(authorizeUrl(world, await world.program({ client_name: 'Acme Agent' })));
    const sentence = '<strong>Acme Agent</strong> asks to read your pipeline.';
    expect([browser.text.includes('<h1>Log in to Pipeline</h1>'), browser.text.includes(sentence)]).toEqual([
      true,
      true,
    ]);
    await browser.submit('/account/login', { email: 'a@example.org', password: 'wrong' });
    expect([browser.status, browser.text.includes(sentence)]).toEqual([400, true]);
    expect(browser.text).toContain('<title>Please check: Log in to Pipeline</title>');
  });

  test('names no program when none waits, or its request is over', async () => {
    for (const returnTo of ['', '?return_to=/oauth/interaction/none-of-that-name']) {
      const { status, text } = await get(`/account/login${returnTo}`, BROWSER);
      expect([status, text.includes('Log in to see which programs read your pipeline.')]).toEqual([200, true]);
    }
  });
});

test('the consent names in sentences what, of whom, for how long, and where the answer goes', async () => {
  const person = await world.person('acme');
  const redirect_uri = 'https://agent.example.org/cb?x=1';
  const clientId = await world.program({ client_name: 'Acme Agent', redirect_uris: [redirect_uri] });
  const browser = world.browser();
  await browser.open(authorizeUrl(world, clientId, { redirect_uri }));
  await logIn(browser, person);
  const text = browser.text.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
  for (const sentence of [
    'Allow Acme Agent to read your pipeline?',
    'The program calls itself Acme Agent. Nobody has verified this name.',
    `Acme Agent will be able to read the pipeline of acme on your behalf (${person.email}):`,
    'It cannot change anything, and it cannot read more than you can.',
    'It expires after one year, or when the program has not used it for 30 days.',
    'After your decision, your browser is redirected to agent.example.org: https://agent.example.org/cb?x=1',
  ])
    expect(text).toContain(sentence);
});

describe('ending a connection', () => {
  const atList = async () => {
    const person = await world.person('acme');
    const connected = await connect(world, { person });
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    const path = /href="(\/account\/connections\/conn_[\w-]+\/end)"/.exec(browser.text)?.[1] ?? '';
    return { browser, path, connected, person };
  };

  test('asks once, and opening the question changes nothing', async () => {
    const { browser, path, connected } = await atList();
    expect(browser.text).not.toMatch(/<form[^>]*revoke/);
    await browser.open(path);
    expect([browser.status, browser.text.includes('<h1>End the connection of Reader?</h1>')]).toEqual([200, true]);
    expect(await world.call(connected.access)).toBe(200);
    await browser.submit(path.replace(/end$/, 'revoke'), {});
    expect(browser.text).toContain('The connection was ended.');
    expect(await world.call(connected.access)).toBe(401);
    await browser.open(path);
    expect([browser.status, browser.text.includes('no longer exists')]).toEqual([404, true]);
  });

  test('does not offer to end a connection of another user', async () => {
    const { path, connected } = await atList();
    const { browser } = await atList();
    await browser.open(path);
    expect([browser.status, browser.text.includes('no longer exists')]).toEqual([404, true]);
    expect(await world.call(connected.access)).toBe(200);
  });

  test('leads to the login when no user is logged in', async () => {
    const { path } = await atList();
    const browser = world.browser();
    await browser.open(path);
    expect(new URL(browser.url).pathname).toBe('/account/login');
  });
});

test.each([
  [365 * 86_400, 'one year'],
  [730 * 86_400, '2 years'],
  [30 * 86_400, '30 days'],
  [86_400, 'one day'],
  [7_200, '2 hours'],
  [5_400, '90 minutes'],
  [61, '61 seconds'],
])('renders %d seconds as %s', (seconds, words) => {
  expect(inWords(seconds)).toBe(words);
});

describe('origins', () => {
  const FOREIGN = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

  const post = async (path: string, headers: Record<string, string>, body = 'a=b') => {
    const answer = await world.fetch(`${world.front.url}${path}`, {
      method: 'POST',
      headers: { ...FORM, ...headers },
      body,
    });
    const text = await answer.text();
    return [answer.status, /ORIGIN_NOT_ALLOWED/.test(text)];
  };

  describe('a form that a page of another site sends', () => {
    test.each(['/account/login', '/account/logout', '/account/connections/x/revoke', '/oauth/interaction/x/confirm'])(
      'refuses the form at %s',
      async (path) => {
        expect(await post(path, FOREIGN)).toEqual([403, true]);
        expect(await post(path, { origin: 'http://sibling.localhost', 'sec-fetch-site': 'same-site' })).toEqual([
          403,
          true,
        ]);
      },
    );
  });

  test('routes that need no cookie are open to pages of programs: registration, tokens, revocation', async () => {
    for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke'])
      expect((await post(path, FOREIGN))[1]).toBe(false);
  });

  test('login and consent work from own pages, as browsers send them', async () => {
    const person = await world.person('acme');
    const browser = world.browser();
    browser.send = { origin: world.front.url, 'sec-fetch-site': 'same-origin' };
    await browser.open(authorizeUrl(world, await world.program()));
    await logIn(browser, person);
    expect((await decide(browser, 'allow')).searchParams.get('code')).not.toBe(null);
    // Older browsers send the Origin alone.
    const older = world.browser();
    older.send = { origin: world.front.url };
    await older.open('/account/login');
    await logIn(older, person);
    expect([older.status, new URL(older.url).pathname]).toEqual([200, '/account/connections']);
  });
});
