import { afterEach, describe, expect, test } from '@jest/globals';
import { RawConnection } from '@pipeline/testing/raw-connection';
import { serveSample } from '../sample.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

async function serve(options: Parameters<typeof serveSample>[0] = {}) {
  const sample = await serveSample(options);
  cleanups.push(sample.close);
  return sample;
}

/** Sends a request as a browser does, which fetch() would not do here. */
async function ask(url: string, line: string, headers: Record<string, string> = {}) {
  const raw = await RawConnection.open(url);
  cleanups.push(() => raw.close());
  raw.send(line, { authorization: 'Basic good', 'content-length': '2', ...headers }, '{}');
  const { status, body } = await raw.answer();
  return [status, (JSON.parse(body) as { code?: string }).code];
}

const POST = 'POST /api/optional';
const REFUSED = [403, 'ORIGIN_NOT_ALLOWED'];
const DONE = [200, undefined];

describe('a request that changes something', () => {
  test.each([
    ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['of another host of the same site', { origin: 'http://evil.localhost', 'sec-fetch-site': 'same-site' }],
    ['of another site, without an Origin', { 'sec-fetch-site': 'cross-site' }],
    ['of an older browser', { origin: 'https://evil.example' }],
    ['of a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['of a sandboxed frame of an older browser', { origin: 'null' }],
    ['of two origins', { origin: 'http://a.example, http://b.example' }],
    ['that names the host in its own name', { origin: 'http://127.0.0.1.evil.example' }],
  ] as [string, Record<string, string>][])('refuses a request from a page %s', async (_what, headers) => {
    const { url } = await serve();
    expect(await ask(url, POST, headers)).toEqual(REFUSED);
  });

  test('refuses a request from another port of this host', async () => {
    const { url } = await serve();
    expect(await ask(url, POST, { origin: 'http://127.0.0.1:1' })).toEqual(REFUSED);
  });

  test('refuses a request before the credentials are checked', async () => {
    const { url } = await serve();
    expect(await ask(url, POST, { origin: 'https://evil.example', authorization: 'Basic bad' })).toEqual(REFUSED);
  });

  test('passes when it comes from an own page, a program or the person', async () => {
    const { url } = await serve();
    expect(await ask(url, POST, { origin: url, 'sec-fetch-site': 'same-origin' })).toEqual(DONE);
    expect(await ask(url, POST, { origin: url })).toEqual(DONE);
    // A form of a page without referrers.
    expect(await ask(url, POST, { origin: 'null', 'sec-fetch-site': 'same-origin' })).toEqual(DONE);
    expect(await ask(url, POST, { 'sec-fetch-site': 'none' })).toEqual(DONE);
    expect(await ask(url, POST)).toEqual(DONE);
  });

  test('passes from a configured origin and from the host that a trusted proxy names', async () => {
    const origin = 'https://pipeline.example.org';
    const named = await serve({ ownOrigins: [origin] });
    expect(await ask(named.url, POST, { origin })).toEqual(DONE);
    const headers = { origin, 'x-forwarded-host': 'pipeline.example.org' };
    const behind = await serve({ trustProxy: 1 });
    expect(await ask(behind.url, POST, headers)).toEqual(DONE);
    const direct = await serve();
    expect(await ask(direct.url, POST, headers)).toEqual(REFUSED);
  });
});

test('a request that only reads passes from everywhere', async () => {
  const { url } = await serve();
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  expect(await ask(url, 'GET /api/things/one', headers)).toEqual(DONE);
});

describe('the Host header', () => {
  const hostNames = ['Monitor.internal'];
  const read = async (url: string, host: string, more = {}) => ask(url, 'GET /api/things/one', { host, ...more });

  test.each(['evil.example', 'evil.example:8090', 'localhost.evil.example', '127.0.0.1.evil.example', 'monitor', '%%'])(
    'refuses the Host header %s',
    async (host) => {
      const { url } = await serve({ hostNames });
      expect(await read(url, host)).toEqual([403, 'HOST_NOT_ALLOWED']);
    },
  );

  test.each(['127.0.0.1:8090', '[::1]:8090', '10.1.2.3', 'localhost:1', 'a.localhost', 'monitor.internal:80'])(
    'passes when it is %s',
    async (host) => {
      const { url } = await serve({ hostNames });
      expect(await read(url, host)).toEqual(DONE);
    },
  );

  test('checks the header on every path, and with the value that a trusted proxy forwards', async () => {
    const { url } = await serve({ hostNames, trustProxy: 1 });
    for (const path of ['/health', '/nowhere'])
      expect(await ask(url, `GET ${path}`, { host: 'evil.example' })).toEqual([403, 'HOST_NOT_ALLOWED']);
    expect(await read(url, 'localhost', { 'x-forwarded-host': 'evil.example' })).toEqual([403, 'HOST_NOT_ALLOWED']);
    expect(await read(url, 'evil.example', { 'x-forwarded-host': 'localhost' })).toEqual([403, 'HOST_NOT_ALLOWED']);
  });

  test('does not check the header without names, where authentication protects', async () => {
    const { url } = await serve();
    expect(await read(url, 'evil.example')).toEqual(DONE);
  });
});
