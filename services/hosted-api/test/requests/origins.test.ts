import { describe, expect, test } from '@jest/globals';
import { authorizeUrl, decide, logIn, testOauth } from '../oauth/oauth-world.ts';

const world = testOauth();

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
    'is refused at %s',
    async (path) => {
      expect(await post(path, FOREIGN)).toEqual([403, true]);
      expect(await post(path, { origin: 'http://sibling.localhost', 'sec-fetch-site': 'same-site' })).toEqual([
        403,
        true,
      ]);
    },
  );
});

test('what needs no cookie is open to pages of programs: registration, tokens, revocation', async () => {
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
