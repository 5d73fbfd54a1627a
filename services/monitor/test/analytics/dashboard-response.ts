/** The response of the dashboard: ETag, encodings, HEAD. */
import { afterAll, describe, expect, test } from '@jest/globals';
import { DEVELOPER, testDashboard } from './dashboard-world.ts';
import { database } from './database.ts';

describe('the response of the dashboard', () => {
  const { env, at, poll, read, enter } = testDashboard(database);

  describe('the response', () => {
    const get = (headers: Record<string, string>, query = '') => env.call('GET', `/dashboard${query}`, { headers });

    test('returns 304 without a body while only the time has passed', async () => {
      await poll();
      const first = await get({});
      const etag = first.headers.get('etag') ?? '';
      expect(first.status).toBe(200);
      expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
      at(1);
      const second = await get({ 'if-none-match': `"other", ${etag}` });
      expect([second.status, second.text, second.headers.get('etag')]).toEqual([304, '', etag]);
      expect(second.headers.get('cache-control')).toBe('private, no-cache');
    });

    const CHANGES = {
      'the status': () => {
        env.connected = false;
      },
      'an agent': () => {
        env.agents = [{ ...DEVELOPER, reachable: false }];
      },
      'a count': async () => {
        await enter();
        await poll();
      },
    };

    test.each(Object.entries(CHANGES))('returns 200 with another ETag when %s has changed', async (_what, change) => {
      await poll();
      const etag = (await get({})).headers.get('etag') ?? '';
      await change();
      const changed = await get({ 'if-none-match': etag });
      expect(changed.status).toBe(200);
      expect(changed.headers.get('etag')).not.toBe(etag);
    });

    test('returns 200 with another ETag when the window or the env.number of timelines differs', async () => {
      await enter();
      await poll();
      const tags = await Promise.all(
        ['', '?window=30d', '?timelines=0'].map(async (query) => (await get({}, query)).headers.get('etag')),
      );
      expect(new Set(tags).size).toBe(3);
    });

    test.each([
      ['br', 'gzip, deflate, br'],
      ['gzip', 'gzip'],
      ['gzip', 'br;q=0, gzip'],
      [null, 'identity'],
    ])('encodes the response as %s when the caller accepts %s', async (encoding, accepted) => {
      await enter();
      await poll();
      const answer = await fetch(`${env.url}/dashboard`, { headers: { 'accept-encoding': accepted } });
      expect(answer.headers.get('content-encoding')).toBe(encoding);
      expect(answer.headers.get('vary')).toBe('accept-encoding');
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await answer.json()).toEqual(await read());
    });

    test('compresses the response once for callers that come at the same time', async () => {
      await enter();
      await poll();
      const lengths = await Promise.all(
        Array.from({ length: 8 }, async () => (await fetch(`${env.url}/dashboard`)).headers.get('content-length')),
      );
      expect(new Set(lengths).size).toBe(1);
      expect(Number(lengths[0])).toBeLessThan(JSON.stringify(await read()).length / 2);
    });

    test('the response to HEAD is as long as that to GET, and empty', async () => {
      await poll();
      const [plain, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) =>
          fetch(`${env.url}/dashboard`, { method, headers: { 'accept-encoding': 'identity' } }),
        ),
      );
      expect(head?.headers.get('content-length')).toBe(plain?.headers.get('content-length'));
      expect(await head?.text()).toBe('');
    });
  });

  afterAll(() => database.clear());
});
