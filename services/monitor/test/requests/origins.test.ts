import { afterEach, describe, expect, test } from '@jest/globals';
import { RawConnection } from '@pipeline/testing/raw-connection';
import { authOf, callerOf, OLGA, serveApp } from '../support/served-app.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

async function serve(over: Parameters<typeof serveApp>[0] = {}) {
  const served = await serveApp(over);
  cleanups.push(served.close);
  return served;
}

const FOREIGN = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

describe('with authentication', () => {
  test('a page of another origin cannot use the session of its visitor, an own page can', async () => {
    const { call, url } = await serve({ auth: authOf([OLGA]) });
    const login = await call('POST', '/api/auth/login', { body: OLGA });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const reload = (headers: Record<string, string>) =>
      call('POST', '/api/config/reload', { headers: { cookie, ...headers } });
    for (const headers of [FOREIGN, { origin: 'http://sibling.localhost', 'sec-fetch-site': 'same-site' }])
      expect((await reload(headers)).json).toMatchObject({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
    // 409: it was reached, and there is no file to read.
    expect((await reload({ origin: url, 'sec-fetch-site': 'same-origin' })).status).toBe(409);
    expect((await reload({})).status).toBe(409);
  });

  test('nobody can be logged in or out by a page of another origin', async () => {
    const { call } = await serve({ auth: authOf([OLGA]) });
    for (const path of ['/api/auth/login', '/api/auth/logout'])
      expect((await call('POST', path, { body: OLGA, headers: FOREIGN })).json).toMatchObject({
        code: 'ORIGIN_NOT_ALLOWED',
      });
  });

  test('the Host header may be any, for proxies write what they like', async () => {
    const { url } = await serve({ auth: authOf([OLGA]) });
    const raw = await RawConnection.open(url);
    cleanups.push(() => raw.close());
    raw.send('GET /health', { host: 'monitor.internal' });
    expect((await raw.answer()).status).toBe(200);
  });
});

describe('without authentication', () => {
  test('a page of another origin changes nothing', async () => {
    const { call } = await serve({ hostNames: [] });
    const answer = await call('POST', '/api/config/reload', { headers: FOREIGN });
    expect(answer.json).toMatchObject({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
  });

  test('a page whose name was made to lead here reads nothing', async () => {
    const { url } = await serve({ hostNames: ['monitor.internal'] });
    const statusFor = async (host: string) => {
      const raw = await RawConnection.open(url);
      cleanups.push(() => raw.close());
      raw.send('GET /api/config-summary', { host });
      return (await raw.answer()).status;
    };
    const { port } = new URL(url);
    expect(await statusFor(`evil.example:${port}`)).toBe(403);
    expect(await statusFor(`localhost:${port}`)).toBe(200);
    expect(await statusFor(`monitor.internal:${port}`)).toBe(200);
    expect((await callerOf(url)('GET', '/api/config-summary')).status).toBe(200);
  });
});
