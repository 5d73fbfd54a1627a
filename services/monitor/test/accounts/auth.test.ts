import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { hashPassword } from '@pipeline/engine';
import { SignJWT } from 'jose';
import { createAuthentication } from '../../src/auth/authentication.ts';
import { credentialCheck } from '../../src/auth/credentials.ts';
import { authOf, type Call, serveApp } from '../support/served-app.ts';

const GOOD = { username: 'admin', password: 'corréct: horse' };
const GUARDED = '/api/dead-letters';
const basic = (username: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

let time = Date.parse('2026-03-01T12:00:00Z');
const now = () => new Date(time);
const pass = (ms: number) => {
  time += ms;
};
const MINUTE = 60_000;

let call: Call;
let close: () => Promise<void>;

beforeEach(async () => {
  // The limiter counts by the process's clock.
  jest.spyOn(Date, 'now').mockImplementation(() => time);
  ({ call, close } = await serveApp({ auth: authOf([GOOD], now), now }));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await close();
});

const login = (credentials: unknown = GOOD) => call('POST', '/api/auth/login', { body: credentials });
const cookieOf = (answer: { headers: Headers }) => answer.headers.get('set-cookie')?.split(';')[0] ?? '';
/** Passed = the request got as far as the missing store. */
const get = (headers: Record<string, string>) => call('GET', GUARDED, { headers });

describe('with authentication configured', () => {
  test('login sets a strict cookie of 12 hours that opens the API', async () => {
    const answer = await login();
    expect([answer.status, answer.json]).toEqual([200, { ok: true }]);
    const [pair, ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
    expect(pair).toMatch(/^SVC_SESSION=[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Strict', 'Secure']);
    expect((await get({ cookie: `theme=dark; ${pair}` })).status).toBe(503);
  });

  test('a cookie is good for 12 hours and not a second longer', async () => {
    const cookie = cookieOf(await login());
    pass(12 * 60 * MINUTE - 1_000);
    expect((await get({ cookie })).status).toBe(503);
    pass(1_000);
    expect((await get({ cookie })).json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
  });

  test('logout clears the cookie and ends the session also for who kept a copy', async () => {
    const cookie = cookieOf(await login());
    const other = cookieOf(await login());
    const answer = await call('POST', '/api/auth/logout', { headers: { cookie } });
    expect([answer.status, answer.json]).toEqual([200, { ok: true }]);
    expect(answer.headers.get('set-cookie')).toBe('SVC_SESSION=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict');
    expect((await get({ cookie })).json).toMatchObject({ code: 'AUTH_REQUIRED' });
    expect((await get({ cookie: other })).status).toBe(503);
    expect((await call('POST', '/api/auth/logout')).status).toBe(200);
  });

  test.each([
    ['nothing', {}],
    ['an empty cookie', { cookie: 'SVC_SESSION=' }],
    ['nonsense', { cookie: 'SVC_SESSION=a.b.c' }],
    [
      'an unsigned token',
      { cookie: 'SVC_SESSION=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiIsImp0aSI6IjEiLCJleHAiOjk5OTk5OTk5OTl9.' },
    ],
  ] as [string, Record<string, string>][])('%s is AUTH_REQUIRED, without a challenge', async (_name, headers) => {
    const answer = await get(headers);
    expect([answer.status, answer.json]).toMatchObject([401, { code: 'AUTH_REQUIRED', status: 401 }]);
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });

  test('a cookie signed with another secret, such as that of before a restart, is AUTH_REQUIRED', async () => {
    const token = await new SignJWT({ jti: '1' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('admin')
      .setExpirationTime(Math.floor(time / 1000) + 600)
      .sign(new Uint8Array(32));
    expect((await get({ cookie: `SVC_SESSION=${token}` })).json).toMatchObject({ code: 'AUTH_REQUIRED' });
    const cookie = cookieOf(await login());
    const restarted = await serveApp({ auth: authOf([GOOD], now), now });
    const answer = await restarted.call('GET', GUARDED, { headers: { cookie } });
    await restarted.close();
    expect(answer.json).toMatchObject({ code: 'AUTH_REQUIRED' });
  });

  test('Basic opens the API on every request, colons and accents in the password included', async () => {
    expect((await get(basic(GOOD.username, GOOD.password))).status).toBe(503);
  });

  test.each([
    ['a wrong password', basic('admin', 'wrong')],
    ['a password that only begins right', basic('admin', `${GOOD.password}x`)],
    ['a wrong username', basic('Admin', GOOD.password)],
    ['no colon', { authorization: `Basic ${Buffer.from('admin').toString('base64')}` }],
    ['no base64', { authorization: 'Basic !!!' }],
    ['another scheme', { authorization: 'Bearer mcp_at_something' }],
  ] as [string, Record<string, string>][])('%s is AUTH_FAILED, without a challenge', async (_name, headers) => {
    const answer = await get(headers);
    expect([answer.status, answer.json]).toMatchObject([401, { code: 'AUTH_FAILED', status: 401 }]);
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });

  test('wrong Basic is refused also beside a good cookie', async () => {
    const cookie = cookieOf(await login());
    expect((await get({ cookie, ...basic('admin', 'wrong') })).json).toMatchObject({ code: 'AUTH_FAILED' });
  });

  test('the session shows whether the caller is logged in, and never refuses', async () => {
    const session = async (headers: Record<string, string>) =>
      (await call('GET', '/api/auth/session', { headers })).json as { authenticated: boolean };
    expect(await session({})).toEqual({ authenticated: false });
    expect(await session(basic('admin', 'wrong'))).toEqual({ authenticated: false });
    expect(await session(basic(GOOD.username, GOOD.password))).toEqual({ authenticated: true });
    expect(await session({ cookie: cookieOf(await login()) })).toEqual({ authenticated: true });
  });

  test('exactly the exempt routes are open; everything else under the API is not, known or not', async () => {
    for (const path of ['/health', '/ready', '/api/openapi.json', '/', '/api/auth/session'])
      expect([path, (await call('GET', path)).status]).toEqual([path, 200]);
    expect((await call('GET', '/assets/none.js')).status).toBe(404);
    expect((await call('POST', '/api/auth/logout')).status).toBe(200);
    for (const [method, path] of [
      ['GET', GUARDED],
      ['POST', `${GUARDED}/resolve-all`],
      ['POST', `${GUARDED}/x/retry`],
      ['POST', `${GUARDED}/x/resolve`],
      ['GET', '/api/nothing-here'],
      ['POST', '/api/auth/session'],
      ['GET', '/api/auth/login'],
    ] as const)
      expect([path, (await call(method, path)).json]).toMatchObject([path, { status: 401, code: 'AUTH_REQUIRED' }]);
    expect((await call('GET', '/nothing-here')).json).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  test('login distinguishes bad JSON, missing fields and wrong credentials', async () => {
    expect((await login('{')).json).toMatchObject({ status: 400, code: 'INVALID_JSON' });
    expect((await login({ username: 'admin' })).json).toMatchObject({ status: 400, code: 'INVALID_BODY' });
    expect((await login({ ...GOOD, password: 'x' })).json).toMatchObject({ status: 401, code: 'AUTH_FAILED' });
    expect((await login({ ...GOOD, password: 'x' })).headers.get('set-cookie')).toBeNull();
  });
});

describe('guessing', () => {
  test('the right password waits for the window to end after ten failed logins in five minutes', async () => {
    for (let n = 0; n < 10; n += 1) expect((await login({ ...GOOD, password: `${n}` })).status).toBe(401);
    const refused = await login();
    expect([refused.status, refused.json]).toMatchObject([429, { code: 'RATE_LIMITED' }]);
    expect(Number(refused.headers.get('retry-after'))).toBe(300);
    pass(5 * MINUTE - 1_000);
    expect((await login()).headers.get('retry-after')).toBe('1');
    pass(1_001);
    expect((await login()).status).toBe(200);
  });

  test('logins that succeed bring no caller nearer to the limit', async () => {
    for (let n = 0; n < 30; n += 1) expect((await login()).status).toBe(200);
    for (let n = 0; n < 9; n += 1) expect((await login({ ...GOOD, password: `${n}` })).status).toBe(401);
    for (let n = 0; n < 5; n += 1) expect((await login()).status).toBe(200);
  });

  test('many attempts at once are counted before any is looked at', async () => {
    const all = await Promise.all(Array.from({ length: 25 }, (_, n) => login({ ...GOOD, password: `${n}` })));
    expect(all.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  test('refuses right and wrong Basic credentials alike, before comparing, when the limit is reached', async () => {
    for (let n = 0; n < 10; n += 1) expect((await get(basic('admin', `${n}`))).status).toBe(401);
    const answers = [await get(basic('admin', 'wrong')), await get(basic(GOOD.username, GOOD.password))];
    for (const refused of answers) {
      expect([refused.status, refused.json]).toMatchObject([429, { code: 'RATE_LIMITED' }]);
      expect(refused.headers.get('retry-after')).toBe('300');
    }
    const session = await call('GET', '/api/auth/session', { headers: basic(GOOD.username, GOOD.password) });
    expect(session.status).toBe(429);
    expect((await call('GET', '/api/nothing-here', { headers: basic(GOOD.username, GOOD.password) })).status).toBe(429);
    pass(5 * MINUTE + 1);
    expect((await get(basic(GOOD.username, GOOD.password))).status).toBe(503);
  });

  test('counts Basic and the login route together', async () => {
    for (let n = 0; n < 5; n += 1) expect((await get(basic('admin', `${n}`))).status).toBe(401);
    for (let n = 0; n < 5; n += 1) expect((await login({ ...GOOD, password: `${n}` })).status).toBe(401);
    expect((await login()).status).toBe(429);
    expect((await get(basic(GOOD.username, GOOD.password))).status).toBe(429);
  });

  test('leaves a session that exists alone when its user is over the limit', async () => {
    const cookie = cookieOf(await login());
    for (let n = 0; n < 12; n += 1) await login({ ...GOOD, password: `${n}` });
    expect((await login()).status).toBe(429);
    expect((await get({ cookie })).status).toBe(503);
  });

  test('limits an address over all names when one password is tried on many', async () => {
    for (let n = 0; n < 30; n += 1) expect((await get(basic(`user${n}`, 'x'))).status).toBe(401);
    expect((await get(basic('another', 'x'))).status).toBe(429);
    expect((await login()).status).toBe(429);
  });

  test('does not count headers that hold no name and password', async () => {
    for (let n = 0; n < 50; n += 1) expect((await get({ authorization: 'Bearer mcp_at_x' })).status).toBe(401);
    expect((await login()).status).toBe(200);
  });

  test('counts the same guess once when it is sent many times at once', async () => {
    const hashed = [{ ...GOOD, password: await hashPassword(GOOD.password) }];
    const auth = authOf(hashed, now);
    const all = Array.from({ length: 40 }, () => auth.login(GOOD, '10.0.0.1'));
    for (const cookie of await Promise.all(all)) expect(cookie).toContain('SVC_SESSION=');
  });

  describe('of one name', () => {
    const guess = (auth: ReturnType<typeof authOf>, address: string, password = 'x') =>
      auth.login({ ...GOOD, password }, address);

    test('does not lock its owner out elsewhere when it comes from a few addresses', async () => {
      const auth = authOf([GOOD], now);
      for (let host = 0; host < 9; host += 1)
        for (let n = 0; n < 40; n += 1)
          await expect(guess(auth, `10.0.0.${host}`)).rejects.toMatchObject({
            code: n < 10 ? 'AUTH_FAILED' : 'RATE_LIMITED',
          });
      expect(await auth.login(GOOD, '10.0.0.99')).toContain('SVC_SESSION=');
    });

    test('limits guesses over all addresses, except where the name logged in before', async () => {
      const auth = authOf([GOOD], now);
      await auth.login(GOOD, '10.9.9.9');
      for (let n = 0; n < 100; n += 1)
        await expect(guess(auth, `10.0.${n >> 3}.1`)).rejects.toMatchObject({ code: 'AUTH_FAILED' });
      await expect(guess(auth, '10.1.1.1', GOOD.password)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
      expect(await auth.login(GOOD, '10.9.9.9')).toContain('SVC_SESSION=');
      for (let n = 0; n < 10; n += 1)
        await expect(guess(auth, '10.9.9.9', `${n}`)).rejects.toMatchObject({ code: 'AUTH_FAILED' });
      await expect(auth.login(GOOD, '10.9.9.9')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
      await expect(auth.login({ username: 'eve', password: 'x' }, '10.1.1.1')).rejects.toMatchObject({
        code: 'AUTH_FAILED',
      });
    });
  });
});

describe('further logins', () => {
  const PER = { username: 'per', password: 'a word of his own' };
  const INA = { username: 'ina', password: 'a word that is only kept as its hash' };
  let several: Awaited<ReturnType<typeof serveApp>>;

  beforeEach(async () => {
    const logins = [GOOD, PER, { ...INA, password: await hashPassword(INA.password) }];
    several = await serveApp({ auth: authOf(logins, now), now });
  });
  afterEach(() => several.close());

  const statusOf = async (username: string, password: string) =>
    (await several.call('GET', GUARDED, { headers: basic(username, password) })).status;

  test('open the API by Basic and by session, each with its own password only', async () => {
    for (const { username, password } of [GOOD, PER, INA]) {
      expect([username, await statusOf(username, password)]).toEqual([username, 503]);
      const answer = await several.call('POST', '/api/auth/login', { body: { username, password } });
      const cookie = cookieOf(answer);
      expect([username, (await several.call('GET', GUARDED, { headers: { cookie } })).status]).toEqual([username, 503]);
    }
    expect(await statusOf(PER.username, GOOD.password)).toBe(401);
    expect(await statusOf(INA.username, PER.password)).toBe(401);
    expect(await statusOf('nobody', GOOD.password)).toBe(401);
  });

  test('a hash is no password', async () => {
    expect(await statusOf(INA.username, await hashPassword(INA.password))).toBe(401);
  });

  test('a password that is kept as a hash is looked at by its hash once, then as fast as any other', async () => {
    const [login] = [{ ...INA, password: await hashPassword(INA.password) }];
    const check = credentialCheck([login]);
    expect(check.isKnown(INA)).toBe(false);
    expect(await check.proves({ ...INA, password: 'wrong' })).toBe(false);
    expect([INA.password, 'wrong'].map((password) => check.isKnown({ ...INA, password }))).toEqual([false, false]);
    expect(await check.proves(INA)).toBe(true);
    expect(check.isKnown(INA)).toBe(true);
    expect(check.isKnown({ ...INA, password: login.password })).toBe(false);
  });

  test('count against the same limits', async () => {
    const login = (password: string) =>
      several.call('POST', '/api/auth/login', { body: { username: INA.username, password } });
    for (let n = 0; n < 10; n += 1) expect((await login(`${n}`)).status).toBe(401);
    const refused = await login(INA.password);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '300']);
    expect(refused.headers.get('ratelimit')).toBe('"login";r=0;t=300');
    expect(refused.headers.get('ratelimit-policy')).toBe('"login";q=10;w=300');
  });
});

test('a limit of 0 failed logins is none', async () => {
  const auth = createAuthentication({ logins: [GOOD], loginAttempts: 0, now });
  for (let n = 0; n < 30; n += 1)
    await expect(auth.login({ ...GOOD, password: 'x' }, '10.0.0.1')).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  expect(await auth.login(GOOD, '10.0.0.1')).toContain('SVC_SESSION=');
});

describe('without authentication configured', () => {
  test('everything is open, login sets no cookie, and the session is authenticated', async () => {
    const open = await serveApp();
    const answer = await open.call('POST', '/api/auth/login', { body: { username: 'x', password: 'y' } });
    expect([answer.status, answer.json, answer.headers.get('set-cookie')]).toEqual([200, { ok: true }, null]);
    expect((await open.call('GET', '/api/auth/session')).json).toEqual({ authenticated: true });
    expect((await open.call('GET', GUARDED)).status).toBe(503);
    expect((await open.call('GET', GUARDED, { headers: basic('a', 'b') })).status).toBe(503);
    await open.close();
  });
});

test('requests are limited for each credential', async () => {
  const limited = await serveApp({ auth: authOf([GOOD], now), now, requestsPerMinute: 2 });
  const headers = basic(GOOD.username, GOOD.password);
  const answers = [];
  for (let n = 0; n < 3; n += 1) answers.push(await limited.call('GET', GUARDED, { headers }));
  await limited.close();
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 429]);
  const refused = answers[2]?.headers;
  expect(refused?.get('ratelimit')).toBe('"operator";r=0;t=60');
  expect(refused?.get('ratelimit-policy')).toBe('"operator";q=2;w=60');
  expect(refused?.get('retry-after')).toBe('60');
  expect(answers[0]?.headers.get('ratelimit')).toBe('"operator";r=1;t=60');
});
