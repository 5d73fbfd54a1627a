/** The stages of requests on every route of the monitor: one file for Jest, so that the app and its store are created once. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type AnyRoute,
  checkedFetch,
  fillPath,
  isRawBody,
  monitorSurface,
  parameterProblems,
  routesWithParameters,
} from '@pipeline/contract';
import { type UnstorableRequest, unstorableRequests } from '@pipeline/contract-tests/unstorable-requests';
import { testDatabase } from '@pipeline/testing';
import { RawConnection } from '@pipeline/testing/raw-connection';
import { supertestFetch } from '@pipeline/testing/supertest-fetch';
import { z } from 'zod';
import { EventFeed } from '../../src/stream/event-feed.ts';
import { RawStream } from '../stream/stream-client.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { authOf, callerOf, OLGA, serveApp, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
const { fetch: checked } = checkedFetch(monitorSurface, supertestFetch);
const AUTHORIZATION = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;
let bench: Bench;
let feed: EventFeed;
let served: Awaited<ReturnType<typeof serveConnected>>;

beforeAll(async () => {
  bench = await makeBench(database.store, 'acme/shop');
  await admit(bench, 7);
  feed = new EventFeed({ store: database.store, uptime: () => 1, now: () => new Date() });
  await feed.tick();
  served = await serveConnected({ engine: bench.engine, feed });
});
afterAll(async () => {
  feed.close();
  await served.close();
});

describe('encoded bodies', () => {
  const routes = monitorSurface.routes.filter(({ body }) => body !== undefined);

  /** Sends plain text that claims to be encoded. @returns the status; the client throws for undeclared answers. */
  async function send(route: AnyRoute, encoding: string, authorization?: string): Promise<number> {
    const answer = await checked(served.url + route.path.replaceAll(/\{\w+\}/g, '1'), {
      method: route.method.toUpperCase(),
      headers: {
        'content-type': isRawBody(route.body) ? route.body.type : 'application/json',
        'content-encoding': encoding,
        ...(authorization && { authorization }),
      },
      body: '{}',
    });
    await answer.text();
    return answer.status;
  }

  test.each([
    ['a plain body that claims to be compressed', 'gzip', 400],
    ['an unknown encoding', 'snappy', 415],
  ])('%s is refused by every route', async (_what, encoding, refused) => {
    expect(routes.length).toBeGreaterThan(20);
    const statuses = await Promise.all(
      routes.map(async (route) => [route.id, await send(route, encoding, AUTHORIZATION)] as const),
    );
    // Nothing is inflated for a caller who is not authenticated.
    expect(statuses.filter(([id, status]) => status !== (id === 'login' ? 415 : refused))).toEqual([]);
  });

  test.each(['gzip', 'snappy'])('a body in %s changes nothing of the refusal without credentials', async (encoding) => {
    const guarded = routes.filter(({ auth }) => auth === 'operator');
    const statuses = await Promise.all(guarded.map((route) => send(route, encoding)));
    expect(new Set(statuses)).toEqual(new Set([401]));
  });
});

describe('parameters', () => {
  async function probe(path: string) {
    const gone = new AbortController();
    const answer = await fetch(served.url + path, { headers: { authorization: AUTHORIZATION }, signal: gone.signal });
    const { code } = answer.status >= 400 ? ((await answer.json()) as { code: string }) : { code: undefined };
    // A stream has no end.
    gone.abort();
    return { status: answer.status, code };
  }

  test.each(routesWithParameters(monitorSurface).map((route) => [route.id, route] as const))(
    'accepts and refuses every text of every parameter as the document says: %s',
    async (_id, route) => {
      expect(await parameterProblems(monitorSurface, route, probe)).toEqual([]);
    },
  );
});

/** Numbers in paths and queries: none is too large for an answer that is declared. */
describe('bounds of numbers', () => {
  const LARGE = [
    '2147483647',
    '2147483648',
    '-2147483649',
    '9007199254740993',
    '9'.repeat(20),
    '9'.repeat(400),
    '1e400',
  ];

  /** Parameters that may hold a number, by their schema's examples and patterns. */
  function numericNames(schema: z.ZodObject | undefined): string[] {
    if (!schema) return [];
    const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return Object.entries(properties).flatMap(([name, property]) => {
      const { type, example } = property as { type?: string; example?: unknown };
      return type === 'integer' || type === 'number' || /^-?\d+$/.test(String(example)) ? [name] : [];
    });
  }

  const examplesOf = (schema: z.ZodObject | undefined): Record<string, string> => {
    if (!schema) return {};
    const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    const known: Record<string, string> = { owner: 'acme', repo: 'shop', issue: '7' };
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        known[name] ?? String((property as { example?: unknown }).example ?? 'x'),
      ]),
    );
  };

  /** Addresses of a route with a large number in each place that takes one. */
  function addressesOf({ path, params, query }: AnyRoute): string[] {
    const given = examplesOf(params);
    const inPath = numericNames(params).flatMap((name) =>
      LARGE.map((value) => fillPath(path, { ...given, [name]: value })),
    );
    const inQuery = numericNames(query).flatMap((name) =>
      LARGE.map((value) => `${fillPath(path, given)}?${new URLSearchParams({ [name]: value })}`),
    );
    return [...inPath, ...inQuery];
  }

  const routes = monitorSurface.routes as readonly AnyRoute[];
  const cases = routes
    // Those that only read get these numbers among the texts of their parameters.
    .filter(({ method }) => method !== 'get')
    .flatMap((route) => {
      const addresses = addressesOf(route);
      return addresses.length === 0 ? [] : [[route.id, route.method.toUpperCase(), addresses] as const];
    });

  test('numbers of paths and queries are found', () => {
    expect(cases.map(([id]) => id)).toEqual(
      expect.arrayContaining(['approveStrategySnapshot', 'pauseIssue', 'retryProjection']),
    );
  });

  test.each(cases)('%s answers as declared when a number is large', async (_id, method, addresses) => {
    for (const address of addresses) {
      const { status, text } = await served.call(method, address, method === 'GET' ? {} : { body: {} });
      expect([address.slice(0, 120), status, status < 500 || status === 503, text.slice(0, 200)]).toEqual([
        address.slice(0, 120),
        status,
        true,
        text.slice(0, 200),
      ]);
    }
  });
});

describe('unstorable text', () => {
  async function statusOf({ method, path, body }: UnstorableRequest): Promise<number> {
    const headers = { authorization: AUTHORIZATION };
    // It throws for answers that are not declared.
    const answer = await checked(served.url + path, { method, headers, ...(body !== undefined && { body }) });
    // An event stream would not end by itself.
    await answer.body?.cancel();
    return answer.status;
  }

  test('NUL and unpaired surrogates in any text of any route get a declared answer, never a failure', async () => {
    const requests = monitorSurface.routes.flatMap((route) => [...unstorableRequests(route)]);
    expect(requests.length).toBeGreaterThan(200);
    const wrong: string[] = [];
    for (const request of requests) {
      const { route, where } = request;
      const status = await statusOf(request);
      const isTaken = status < 400 && where.startsWith('body');
      // interface: the timeline of a repo without context is 503.
      const isFailure = status >= 500 && route.id !== 'readTimeline';
      if (isFailure || isTaken) wrong.push(`${status} ${route.id} ${where}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('limits of addresses', () => {
  const ADDRESSES = ['2001:db8:7::1', '2001:db8:7::2', '2001:db8:7:0:ffff::3'];

  test('failed logins count the addresses of a /64 together', async () => {
    const { call, close } = await serveApp({ auth: authOf([OLGA]), trustedProxies: 1 });
    const attempt = async (address: string, n: number) =>
      (
        await call('POST', '/api/auth/login', {
          body: { username: `u${n}`, password: 'no' },
          headers: { 'x-forwarded-for': address },
        })
      ).status;
    // Three times the limit of one name, over all names.
    for (let n = 0; n < 30; n += 1) expect(await attempt(ADDRESSES[n % 2] ?? '', n)).toBe(401);
    expect(await attempt(ADDRESSES[2] ?? '', 30)).toBe(429);
    expect(await attempt('2001:db8:7:1::1', 31)).toBe(401);
    await close();
  });

  test('streams of an open monitor count the addresses of a /64 together', async () => {
    const own = new EventFeed({ store: database.store, uptime: () => 1, now: () => new Date() });
    await own.tick();
    const storeWatch = { isConnected: true } as never;
    const { url, close } = await serveApp({
      pipeline: { engine: bench.engine, storeWatch, feed: own },
      trustedProxies: 1,
      streamLimits: { perCredential: 2, inAll: 0 },
    });
    const open = (address: string) => RawStream.open(`${url}/api/events`, { 'x-forwarded-for': address });
    await open(ADDRESSES[0] ?? '');
    await open(ADDRESSES[1] ?? '');
    await expect(open(ADDRESSES[2] ?? '')).rejects.toThrow('429');
    await open('2001:db8:7:1::1');
    own.close();
    await close();
  });
});

describe('origins', () => {
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

    test('a page of another origin can log no user in or out', async () => {
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
});
