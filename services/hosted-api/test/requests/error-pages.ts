import { beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type Hosted, NO_LIMITS, OAUTH } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('pages of errors', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  let api: Hosted;
  beforeAll(async () => {
    api = await hosting.start({ trustedProxies: 1, oauth: OAUTH, limits: { ...NO_LIMITS, address: 3 } });
  });
  let last = 0;

  /** One request from an address of its own, or from the given one. */
  async function request(path: string, accept: string, init: RequestInit & { address?: string } = {}) {
    last += 1;
    const { address = `198.51.100.${last}`, ...rest } = init;
    const headers = { accept, 'x-forwarded-for': address, ...rest.headers };
    const answer = await api.fetch(api.url + path, { redirect: 'manual', ...rest, headers });
    const [type, text] = [answer.headers.get('content-type'), await answer.text()];
    return { status: answer.status, type, text, headers: answer.headers };
  }

  const PAGES = [
    '/',
    '/account/login',
    '/account/connections',
    '/oauth/interaction/none',
    '/oauth/authorize?client_id=x',
  ];

  describe('over the limit of an address', () => {
    test.each(PAGES)('a browser gets a page, a program an error: %s', async (path) => {
      const address = `192.0.2.${PAGES.indexOf(path) + 1}`;
      for (let n = 0; n < 3; n += 1) await request(path, BROWSER, { address });
      const { status, type, text, headers } = await request(path, BROWSER, { address });
      expect([status, type]).toEqual([429, 'text/html; charset=utf-8']);
      expect(text).toContain('<h1>Please wait</h1>');
      expect(text).toContain('try again in a minute');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      for (const accept of ['*/*', 'application/json']) {
        const program = await request(path, accept, { address });
        expect([program.status, JSON.parse(program.text)]).toMatchObject([429, { code: 'RATE_LIMITED', status: 429 }]);
      }
    });

    test('the token endpoint answers an error to every caller', async () => {
      const address = '192.0.2.99';
      const form = {
        method: 'POST',
        body: '',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        address,
      };
      for (let n = 0; n < 3; n += 1) await request('/oauth/token', BROWSER, form);
      expect(JSON.parse((await request('/oauth/token', BROWSER, form)).text)).toMatchObject({ code: 'RATE_LIMITED' });
    });
  });

  test('a page that fails unexpectedly is a page for a browser, an error for a program', async () => {
    const { db } = hosting.database;
    await sql`alter table user_sessions rename to user_sessions_gone`.execute(db);
    const session = `pipeline_session=${'a'.repeat(43)}`;
    const cookie = { headers: { cookie: `${session}; __Host-${session}` } };
    const page = await request('/account/connections', BROWSER, cookie);
    const error = await request('/account/connections', '*/*', cookie);
    await sql`alter table user_sessions_gone rename to user_sessions`.execute(db);
    expect([page.status, page.type]).toEqual([500, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<h1>Something went wrong</h1>');
    expect(page.text).not.toContain('user_sessions');
    expect([error.status, JSON.parse(error.text)]).toMatchObject([500, { code: 'INTERNAL_ERROR' }]);
  });

  test('a form sent for a page of another origin is refused with a page', async () => {
    const headers = { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' };
    const { status, type, text } = await request('/account/login', BROWSER, {
      method: 'POST',
      body: 'email=a',
      headers,
    });
    expect([status, type, text.includes('<h1>Please start again</h1>')]).toEqual([
      403,
      'text/html; charset=utf-8',
      true,
    ]);
  });
});
